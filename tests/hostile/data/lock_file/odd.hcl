provider "a\u00e9/b" { version = "1.0.0" hashes = ["h1:\"x", "zh:\n"] }
