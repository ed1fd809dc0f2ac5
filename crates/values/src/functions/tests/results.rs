//! Tests of results for known, unmarked arguments.

use super::check;
use crate::functions::all;

#[test]
fn collection_functions_return_expected_results() {
    check(&[
        ("length", r#"[[1,2]]"#, "2"),
        ("length", r#"[{"a":1}]"#, "1"),
        ("length", r#"["e\u0301x"]"#, "2"),
        (
            "length",
            r#"[1]"#,
            "error: argument must be a string, a collection type, or a structural type",
        ),
        ("length", r#"[null]"#, "error at 0: argument must not be null"),
        (
            "length",
            r#"[]"#,
            "error: Function \"length\" expects 1 argument(s). Missing value for \"value\".",
        ),
        ("length", r#"[1,2]"#, "error at 1: Function \"length\" expects only 1 argument(s)."),
        ("keys", r#"[{"b":1,"a":2}]"#, r#"["a", "b"]"#),
        ("values", r#"[{"b":1,"a":"x"}]"#, r#"["x", 1]"#),
        ("merge", r#"[{"a":1,"b":2},null,{"b":"x"}]"#, r#"{"a" = 1, "b" = "x"}"#),
        ("merge", r#"[]"#, "{}"),
        ("merge", r#"[1]"#, "error: arguments must be maps or objects, got \"number\""),
        ("lookup", r#"[{"a":1},"a"]"#, "1"),
        ("lookup", r#"[{"a":1},"b",5]"#, "5"),
        (
            "lookup",
            r#"[{"a":1},"b"]"#,
            "error at 0: the given object has no attribute of that name",
        ),
        ("contains", r#"[["a","b"],"b"]"#, "true"),
        ("contains", r#"[[1],"1"]"#, "false"),
        ("contains", r#"["a","a"]"#, "error: argument must be list, tuple, or set"),
        ("index", r#"[["a","b"],"b"]"#, "1"),
        ("index", r#"[["a"],"b"]"#, "error: item not found"),
        ("alltrue", r#"[[true,"true"]]"#, "true"),
        ("alltrue", r#"[[true,null]]"#, "false"),
        ("alltrue", r#"[[]]"#, "true"),
        ("anytrue", r#"[[false,true]]"#, "true"),
        ("anytrue", r#"[[]]"#, "false"),
        ("one", r#"[[]]"#, "null"),
        ("one", r#"[["a"]]"#, r#""a""#),
        (
            "one",
            r#"[[1,2]]"#,
            "error at 0: must be a list, set, or tuple value with either zero or one elements",
        ),
        ("sum", r#"[[1,2.5,"3"]]"#, "6.5"),
        ("sum", r#"[[]]"#, "error at 0: cannot sum an empty list"),
        (
            "transpose",
            r#"[{"a":["x","y"],"b":["x"]}]"#,
            r#"tomap({"x" = tolist(["a", "b"]), "y" = tolist(["a"])})"#,
        ),
        ("matchkeys", r#"[["a","b"],["x","y"],["y"]]"#, r#"tolist(["b"])"#),
        ("matchkeys", r#"[[1],[true],["b"]]"#, "tolist([])"),
        ("matchkeys", r#"[[1],[true],[[]]]"#, "error: keys and searchset must be of the same type"),
    ]);
}

#[test]
fn sequence_functions_return_expected_results() {
    check(&[
        ("concat", r#"[[1],["a"]]"#, r#"[1, "a"]"#),
        ("concat", r#"["a"]"#, "error at 0: all arguments must be lists or tuples; got string"),
        ("element", r#"[["a","b","c"],4]"#, r#""b""#),
        ("element", r#"[["a","b","c"],-1]"#, r#""c""#),
        ("element", r#"[[],0]"#, "error: cannot use element function with an empty list"),
        ("flatten", r#"[[1,[2,[3,[]]],"a"]]"#, r#"[1, 2, 3, "a"]"#),
        ("flatten", r#"["a"]"#, "error: can only flatten lists, sets and tuples"),
        ("reverse", r#"[[1,"a"]]"#, r#"["a", 1]"#),
        ("slice", r#"[[1,2,3],1,2]"#, "[2]"),
        (
            "slice",
            r#"[[1],0,2]"#,
            "error at 2: end index must not be greater than the length of the list",
        ),
        ("slice", r#"[[1],1,0]"#, "error at 1: start index must not be greater than end index"),
        ("chunklist", r#"[[1,2,3],2]"#, "tolist([tolist([1, 2]), tolist([3])])"),
        ("chunklist", r#"[[1,2],0]"#, "tolist([tolist([1, 2])])"),
        ("chunklist", r#"[[1],-1]"#, "error: the size argument must be positive"),
        ("zipmap", r#"[["a","b"],[1,"x"]]"#, r#"{"a" = 1, "b" = "x"}"#),
        (
            "zipmap",
            r#"[["a"],[]]"#,
            "error: number of keys (1) does not match number of values (0)",
        ),
        ("range", r#"[3]"#, "tolist([0, 1, 2])"),
        ("range", r#"[3,0]"#, "tolist([3, 2, 1])"),
        ("range", r#"[0,1,0.25]"#, "tolist([0, 0.25, 0.5, 0.75])"),
        ("range", r#"[0,5,-1]"#, "error at 2: end must be less than start when step is negative"),
        (
            "range",
            r#"[2000]"#,
            "error: more than 1024 values were generated; either decrease the difference between \
             start and end or use a smaller step",
        ),
        ("distinct", r#"[["a","b","a"]]"#, r#"tolist(["a", "b"])"#),
        ("compact", r#"[["a","",null,"b"]]"#, r#"tolist(["a", "b"])"#),
        ("sort", r#"[["b","a","B"]]"#, r#"tolist(["B", "a", "b"])"#),
        (
            "sort",
            r#"[["b",null]]"#,
            "error at 0: given list element 1 is null; a null string cannot be sorted",
        ),
        ("coalesce", r#"[null,"","a"]"#, r#""a""#),
        ("coalesce", r#"[null,1,"a"]"#, r#""1""#),
        ("coalesce", r#"[null]"#, "error: no non-null, non-empty-string arguments"),
        ("coalesce", r#"[[1],"a"]"#, "error: all arguments must have the same type"),
        ("coalescelist", r#"[[],[1]]"#, "[1]"),
        ("setunion", r#"[["b"],["a","b"]]"#, r#"toset(["a", "b"])"#),
        ("setintersection", r#"[["b","c"],["a","b"]]"#, r#"toset(["b"])"#),
        ("setsubtract", r#"[["b","c"],["a","b"]]"#, r#"toset(["c"])"#),
        ("setproduct", r#"[["a","b"],[1]]"#, r#"tolist([["a", 1], ["b", 1]])"#),
    ]);
}

#[test]
fn string_functions_return_expected_results() {
    check(&[
        ("upper", r#"["straße é"]"#, r#""STRAßE É""#),
        ("lower", r#"["ÀB"]"#, r#""àb""#),
        ("title", r#"["hello wOrld-wide o'x_y"]"#, r#""Hello WOrld-Wide O'X_y""#),
        ("strrev", r#"["abc"]"#, r#""cba""#),
        ("chomp", r#"["a\r\n\n"]"#, r#""a""#),
        ("trimspace", r#"["  a\n"]"#, r#""a""#),
        ("trim", r#"["?!a!?","!?"]"#, r#""a""#),
        ("trimprefix", r#"["aab","a"]"#, r#""ab""#),
        ("trimsuffix", r#"["baa","a"]"#, r#""ba""#),
        ("substr", r#"["hello",1,3]"#, r#""ell""#),
        ("substr", r#"["hello",-2,-1]"#, r#""lo""#),
        ("substr", r#"["hello",9,1]"#, r#""""#),
        ("indent", r#"[2,"a\nb"]"#, r#""a\n  b""#),
        ("indent", r#"[-1,"a"]"#, "error at 0: must be zero or greater"),
        ("startswith", r#"["abc","ab"]"#, "true"),
        ("endswith", r#"["abc","ab"]"#, "false"),
        ("strcontains", r#"["abc","bc"]"#, "true"),
        ("join", r#"[",",["a"],["b","c"]]"#, r#""a,b,c""#),
        (
            "join",
            r#"[",",["a",null]]"#,
            "error at 1: element 1 is null; cannot concatenate null values",
        ),
        ("split", r#"[",","a,b,"]"#, r#"tolist(["a", "b", ""])"#),
        ("split", r#"["","ab"]"#, r#"tolist(["a", "b"])"#),
        ("replace", r#"["a.b.c",".","-"]"#, r#""a-b-c""#),
        ("replace", r#"["a1b22","/[0-9]+/","<$0>"]"#, r#""a<1>b<22>""#),
        ("replace", r#"["a","/(/","b"]"#, "error at 1: invalid regexp pattern"),
        ("regex", r#"["[a-z]+","12ab"]"#, r#""ab""#),
        ("regex", r#"["(\\d)(\\d)","12ab"]"#, r#"["1", "2"]"#),
        ("regex", r#"["(?P<n>\\d)","12ab"]"#, r#"{"n" = "1"}"#),
        ("regex", r#"["x","12ab"]"#, "error: pattern did not match any part of the given string"),
        ("regexall", r#"["\\d","12ab"]"#, r#"tolist(["1", "2"])"#),
        ("parseint", r#"["ff",16]"#, "255"),
        ("parseint", r#"["-Z",62]"#, "-61"),
        ("parseint", r#"["g",16]"#, "error at 0: cannot parse \"g\" as a base 16 integer"),
    ]);
}

#[test]
fn format_functions_return_expected_results() {
    check(&[
        ("format", r#"["%s is %d",  "a", 5.0]"#, r#""a is 5""#),
        (
            "format",
            r#"["%s is %d",  "a", 5.9]"#,
            r#"error: unsupported value for "%d" at 6: an integer is required"#,
        ),
        (
            "format",
            r#"["%v %v %v %v", 1000000, 0.1, true, [1,"a"]]"#,
            r#""1e+06 0.1 true [1,\"a\"]""#,
        ),
        ("format", r#"["%#v", "a"]"#, r#""\"a\"""#),
        (
            "format",
            r#"["%05d|%-5d|%+d|%x|%X|%o|%b", 42, 42, 42, 255, 255, 8, 5]"#,
            r#""00042|42   |+42|ff|FF|10|101""#,
        ),
        (
            "format",
            r#"["%.2f|%8.3f|%e|%g", 3.14159, 2.5, 12345, 0.00001]"#,
            r#""3.14|   2.500|1.234500e+04|1e-05""#,
        ),
        (
            "format",
            r#"["%5s|%-5s|%.2s|%q", "ab", "ab", "abc", "a\"b"]"#,
            r#""   ab|ab   |ab|\"a\\\"b\"""#,
        ),
        ("format", r#"["%[2]s %[1]s", "a", "b"]"#, r#""b a""#),
        ("format", r#"["100%%"]"#, r#""100%""#),
        (
            "format",
            r#"["%s"]"#,
            "error: not enough arguments for \"%s\" at 0: need index 1 but have 0 total",
        ),
        (
            "format",
            r#"["%s", "a", "b"]"#,
            "error at 2: too many arguments; only 1 used by format string",
        ),
        ("format", r#"["x", "a"]"#, "error at 1: too many arguments; no verbs in format string"),
        ("format", r#"["a%z", 1]"#, "error: unsupported format verb 'z' in \"%z\" at offset 1"),
        (
            "format",
            r#"["%d", "x"]"#,
            "error: unsupported value for \"%d\" at 0: a number is required",
        ),
        (
            "format",
            r#"["%s", null]"#,
            "error: unsupported value for \"%s\" at 0: null value cannot be formatted",
        ),
        ("format", r#"["%v", null]"#, r#""null""#),
        ("formatlist", r#"["%s-%s", ["a","b"], "c"]"#, r#"tolist(["a-c", "b-c"])"#),
        (
            "formatlist",
            r#"["%s-%s", ["a","b"], ["c"]]"#,
            "error at 2: argument 2 has length 1, which is inconsistent with argument 1 of length 2",
        ),
    ]);
}

#[test]
fn numeric_functions_return_expected_results() {
    check(&[
        ("abs", "[-1.5]", "1.5"),
        ("ceil", "[1.2]", "2"),
        ("floor", "[-1.2]", "-2"),
        ("signum", "[-7]", "-1"),
        ("min", "[3,1,2]", "1"),
        ("max", "[3,1,2]", "3"),
        ("max", "[]", "error: must pass at least one number"),
        ("pow", "[3,40]", "12157665459056929000"),
        ("log", "[1000,10]", "2.9999999999999996"),
        ("log", "[3,10]", "0.4771212547196623"),
        ("log", "[0.1,2]", "-3.321928094887362"),
        ("pow", "[2,0.5]", "1.4142135623730951"),
        ("pow", "[3,-0.5]", "0.5773502691896258"),
        ("pow", "[-8,0.5]", "error: the result is not a number"),
    ]);
}

#[test]
fn encoding_functions_return_expected_results() {
    check(&[
        ("jsonencode", r#"[{"a":[1,"<",null,true]}]"#, r#""{\"a\":[1,\"\\u003c\",null,true]}""#),
        ("jsondecode", r#"["{\"a\":[1,null]}"]"#, r#"{"a" = [1, null]}"#),
        ("jsondecode", r#"["{\"a\":"]"#, "error: unexpected end of JSON input"),
        ("jsondecode", r#"["[1] x"]"#, "error: extra data after the JSON value at offset 4"),
        ("base64encode", r#"["hello"]"#, r#""aGVsbG8=""#),
        ("base64decode", r#"["aGVs\nbG8="]"#, r#""hello""#),
        (
            "base64decode",
            r#"["/w=="]"#,
            "error: the result of decoding the provided string is not valid UTF-8",
        ),
        ("base64decode", r#"["?"]"#, "error: failed to decode base64 data \"?\""),
        ("urlencode", r#"["a b/é"]"#, r#""a+b%2F%C3%A9""#),
        ("md5", r#"["hello world"]"#, r#""5eb63bbbe01eeed093cb22bb8f5acdc3""#),
        ("sha1", r#"["hello world"]"#, r#""2aae6c35c94fcfb415dbe95f408b9ce91ee846ed""#),
        (
            "sha256",
            r#"[""]"#,
            r#""e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855""#,
        ),
        ("base64sha256", r#"[""]"#, r#""47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=""#),
    ]);
}

#[test]
fn conversion_functions_return_expected_results() {
    check(&[
        ("tostring", "[1.50]", r#""1.5""#),
        ("tostring", "[null]", "tostring(null)"),
        ("tostring", "[[]]", "error at 0: cannot convert tuple to string"),
        (
            "tonumber",
            r#"["0x1"]"#,
            "error at 0: cannot convert \"0x1\" to number; given string must be a decimal representation of a number",
        ),
        (
            "tobool",
            r#"["yes"]"#,
            "error at 0: cannot convert \"yes\" to bool; only the strings \"true\" or \"false\" are allowed",
        ),
        ("tolist", r#"[[1,"a"]]"#, r#"tolist(["1", "a"])"#),
        ("tolist", r#"[[1,[]]]"#, "error at 0: cannot convert tuple to list of any single type"),
        ("toset", r#"[["b","a","b"]]"#, r#"toset(["a", "b"])"#),
        ("tomap", r#"[{"a":1,"b":"x"}]"#, r#"tomap({"a" = "1", "b" = "x"})"#),
    ]);
}

#[test]
fn file_and_environment_functions_return_expected_results() {
    check(&[
        ("file", r#"["hello.txt"]"#, r#""hello\n""#),
        ("file", r#"["nosuch"]"#, "error at 0: no file exists at \"nosuch\""),
        (
            "file",
            r#"["binary"]"#,
            "error at 0: contents of \"binary\" are not valid UTF-8; use the filebase64 function \
             to obtain the Base64 encoded contents",
        ),
        ("filebase64", r#"["binary"]"#, r#""//4=""#),
        ("fileexists", r#"["hello.txt"]"#, "true"),
        ("filemd5", r#"["hello.txt"]"#, r#""b1946ac92492d2347c6235b4d2611184""#),
        ("templatefile", r#"["hello.txt",{"a":1}]"#, r#""hello{\"a\" = 1}""#),
        (
            "templatefile",
            r#"["hello.txt",{"1":1}]"#,
            "error at 1: invalid template variable name \"1\": must start with a letter, followed \
             by zero or more letters, digits, and underscores",
        ),
        ("basename", r#"["a/b/"]"#, r#""b""#),
        ("dirname", r#"["a/./b/c"]"#, r#""a/b""#),
        ("dirname", r#"["/a"]"#, r#""/""#),
        ("timestamp", "[]", r#""2024-05-01T10:00:00Z""#),
        ("uuid", "[]", "(known after apply)"),
    ]);
}

#[test]
fn function_names_are_unique_and_described() {
    let mut names: Vec<&str> = all().map(|function| function.name).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
    assert!(all().all(|function| function.doc.ends_with('.')));
}
