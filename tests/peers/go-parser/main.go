// The parser of the reference tools, as the other side of the bench's row for parsing: `go run . FILE` prints its best
// speed in megabytes per second. Its garbage collector may use every processor, as in the tools.
package main

import (
	"fmt"
	"log"
	"os"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

const rounds = 40

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: go run . FILE")
	}
	text, err := os.ReadFile(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	best := time.Hour
	for range rounds {
		start := time.Now()
		_, diagnostics := hclsyntax.ParseConfig(text, os.Args[1], hcl.InitialPos)
		best = min(best, time.Since(start))
		if diagnostics.HasErrors() {
			log.Fatal(diagnostics)
		}
	}
	fmt.Printf("%.1f\n", float64(len(text))/1e6/best.Seconds())
}
