//! Tests of functions on timestamps, prefixes, formats, secrets and paths.

use super::{call, check};

#[test]
fn date_functions_return_expected_results() {
    check(&[
        (
            "formatdate",
            r#"["EEE, DD MMM YYYY hh:mm:ss ZZZ","2020-02-03T14:05:09+05:30"]"#,
            r#""Mon, 03 Feb 2020 14:05:09 +0530""#,
        ),
        ("formatdate", r#"["H'h'''AA Z YY","2021-12-31T00:00:00Z"]"#, r#""12h'AM Z 21""#),
        (
            "formatdate",
            r#"["ZZ","2021-12-31T00:00:00Z"]"#,
            "error at 0: invalid date format verb \"ZZ\": timezone must be Z, ZZZZ, or ZZZZZ",
        ),
        ("formatdate", r#"["'x","2021-12-31T00:00:00Z"]"#, "error at 0: unterminated literal '"),
        (
            "formatdate",
            r#"["Y","2021-02-29T00:00:00Z"]"#,
            "error at 1: not a valid RFC3339 timestamp: day out of range",
        ),
        ("timeadd", r#"["2020-02-28T23:30:00Z","24h45m"]"#, r#""2020-03-01T00:15:00Z""#),
        ("timeadd", r#"["0000-01-01T00:00:00Z","-1h"]"#, r#""-0001-12-31T23:00:00Z""#),
        (
            "timeadd",
            r#"["2020-02-28T23:30:00Z","1d"]"#,
            "error: time: unknown unit \"d\" in duration \"1d\"",
        ),
        (
            "timeadd",
            r#"["2020-02-28T24:30:00Z","1h"]"#,
            "error: not a valid RFC3339 timestamp: hour must be between 0 and 23 inclusive",
        ),
        ("timecmp", r#"["2020-02-03T23:00:00+14:00","2020-02-03T23:00:00Z"]"#, "-1"),
        ("timecmp", r#"["2020-02-03T01:00:00+01:00","2020-02-03T00:00:00Z"]"#, "0"),
        (
            "timecmp",
            r#"["2020-02-03T01:00:00Z","x"]"#,
            "error at 1: not a valid RFC3339 timestamp: cannot use \"x\" as year",
        ),
        ("plantimestamp", "[]", r#""2024-05-01T09:00:00Z""#),
    ]);
}

#[test]
fn ip_prefix_functions_return_expected_results() {
    check(&[
        ("cidrhost", r#"["10.0.0.0/8",-1]"#, r#""10.255.255.255""#),
        ("cidrhost", r#"["fd00::/64",18446744073709551616]"#, r#""fd00:0:0:1::""#),
        (
            "cidrhost",
            r#"["010.0.0.0/30",4]"#,
            "error: prefix of 30 does not accommodate a host numbered 4",
        ),
        (
            "cidrhost",
            r#"["10.0.0.0/33",1]"#,
            "error: invalid CIDR expression: invalid CIDR address: 10.0.0.0/33",
        ),
        ("cidrhost", r#"["10.0.0.0/8",1.5]"#, "error: value must be a whole number"),
        (
            "cidrhost",
            r#"["10.0.0.0/8",1e70]"#,
            "error: the result is no address of the same family",
        ),
        ("cidrnetmask", r#"["10.0.0.0/12"]"#, r#""255.240.0.0""#),
        (
            "cidrnetmask",
            r#"["fd00::/64"]"#,
            "error: IPv6 addresses cannot have a netmask: fd00::/64",
        ),
        ("cidrsubnet", r#"["10.0.0.0/8",8,2]"#, r#""10.2.0.0/16""#),
        ("cidrsubnet", r#"["10.0.0.0/8",-1,1]"#, r#""10.0.0.0/7""#),
        ("cidrsubnet", r#"["10.0.0.0/8",8,-1]"#, r#""0.1.0.0/16""#),
        (
            "cidrsubnet",
            r#"["10.0.0.0/8",25,0]"#,
            "error: insufficient address space to extend prefix of 8 by 25",
        ),
        (
            "cidrsubnet",
            r#"["10.0.0.0/8",2,5]"#,
            "error: prefix extension of 2 does not accommodate a subnet numbered 5",
        ),
        ("cidrsubnet", r#"["10.0.0.0/8",-9,0]"#, "error: the prefix would be shorter than nothing"),
        (
            "cidrsubnets",
            r#"["10.0.0.0/8",8,4,8]"#,
            r#"tolist(["10.0.0.0/16", "10.16.0.0/12", "10.32.0.0/16"])"#,
        ),
        ("cidrsubnets", r#"["10.0.0.0/8"]"#, "tolist([])"),
        (
            "cidrsubnets",
            r#"["10.0.0.0/8",1,1,1]"#,
            "error at 3: not enough remaining address space for a subnet with a prefix of 9 bits after 10.128.0.0/9",
        ),
        (
            "cidrsubnets",
            r#"["10.0.0.0/8",25]"#,
            "error at 1: would extend prefix to 33 bits, which is too long for an IPv4 address",
        ),
        ("cidrcontains", r#"["192.168.2.0/20","192.168.2.1"]"#, "true"),
        ("cidrcontains", r#"["192.168.2.0/20","192.126.2.1"]"#, "false"),
        ("cidrcontains", r#"["fe80::/48","fe80::/32"]"#, "false"),
        (
            "cidrcontains",
            r#"["10.0.0.0/8","fe80::1"]"#,
            "error: address family mismatch: 10.0.0.0/8 vs. fe80::1",
        ),
        ("cidrcontains", r#"["10.0.0.0/8","x"]"#, "error: invalid IP address or prefix: x"),
    ]);
}

#[test]
fn file_format_functions_return_expected_results() {
    check(&[
        (
            "yamlencode",
            r#"[{"a":[1,{"b":"x\ny"}],"c":[],"":null}]"#,
            r#""\"\": null\n\"a\":\n- 1\n- \"b\": |-\n    x\n    y\n\"c\": []\n""#,
        ),
        ("yamlencode", r#"[true]"#, r#""true\n...\n""#),
        ("yamlencode", r#"[" \n x\u0001"]"#, r#""\" \\n x\\x01\"\n""#),
        (
            "yamldecode",
            r#"["a: [1, 0x1f, yes, ~]\nb: &x {c: 2020-01-01}\nd: {<<: *x, e: '1'}"]"#,
            r#"{"a" = [1, 31, true, null], "b" = {"c" = "2020-01-01T00:00:00Z"}, "d" = {"c" = "2020-01-01T00:00:00Z", "e" = "1"}}"#,
        ),
        ("yamldecode", r#"["a: |\n  b\n  c"]"#, r#"{"a" = "b\nc"}"#),
        ("yamldecode", r#"["- |\n x\n- |\n y\n "]"#, r#"["x\n", "y\n"]"#),
        ("yamldecode", r#"["a\u0001"]"#, "error: control characters are not allowed"),
        ("yamldecode", r#"["[[a]: 1]"]"#, "error: only strings are allowed as mapping keys"),
        ("yamldecode", r#"["!foo a"]"#, "error: unsupported tag \"!foo\""),
        ("yamldecode", r#"["<<: 1"]"#, "error: cannot merge number into mapping"),
        (
            "yamldecode",
            r#"["a\n---\nb"]"#,
            "error: on line 1, column 1: unexpected extra content after value",
        ),
        (
            "yamldecode",
            r#"["&a [*a]"]"#,
            "error: cannot refer to anchor \"a\" from inside its own definition",
        ),
        (
            "csvdecode",
            r#"["a,b\r\n1,\"x \"\"y\"\"\"\n\n"]"#,
            r#"tolist([{"a" = "1", "b" = "x \"y\""}])"#,
        ),
        ("csvdecode", r#"[""]"#, "error: missing header line"),
        ("csvdecode", r#"["a,a\n"]"#, "error: duplicate column name \"a\""),
        ("csvdecode", r#"["a,b\n1"]"#, "error: CSV parse error on line 2: wrong number of fields"),
        (
            "csvdecode",
            r#"["a\n1\"2"]"#,
            "error: CSV parse error on line 2: bare \" in non-quoted-field",
        ),
        (
            "csvdecode",
            r#"["a\n\"1"]"#,
            "error: CSV parse error on line 2: extraneous or missing \" in quoted-field",
        ),
        ("urldecode", r#"["a%20b+c%2F"]"#, r#""a b c/""#),
        ("urldecode", r#"["%zz"]"#, "error: failed to decode URL: invalid URL escape \"%zz\""),
        ("textencodebase64", r#"["h\u00e9","UTF-16LE"]"#, r#""aADpAA==""#),
        (
            "textencodebase64",
            r#"["h\u00e9","us-ascii"]"#,
            "error at 0: the given string contains characters that cannot be represented in US-ASCII",
        ),
        ("textdecodebase64", r#"["/v8AaA==","UTF-16"]"#, r#""h""#),
        (
            "textdecodebase64",
            r#"["gQ==","windows-1252"]"#,
            "error at 0: the given string contains symbols that are not defined for windows-1252",
        ),
        (
            "textdecodebase64",
            r#"["aGk","UTF-8"]"#,
            "error at 0: the given value is has an invalid base64 symbol at offset 0",
        ),
        ("base64gunzip", r#"["H4sIAAAAAAAA/8pIzcnJBwAAAP//AQAA//+GphA2BQAAAA=="]"#, r#""hello""#),
        ("base64gunzip", r#"["aGk="]"#, "error: failed to gunzip bytestream: gzip: invalid header"),
    ]);
    let compressed = call("base64gzip", &["hello".into()]).expect("a result");
    assert_eq!(call("base64gunzip", &[compressed]), Ok("hello".into()));
}

#[test]
fn identifier_and_crypto_functions_return_expected_results() {
    check(&[
        ("uuidv5", r#"["dns","a"]"#, r#""4f3f2898-69e3-5a0d-820a-c4e87987dbce""#),
        (
            "uuidv5",
            r#"["{6ba7b810-9dad-11d1-80b4-00c04fd430c8}","a"]"#,
            r#""4f3f2898-69e3-5a0d-820a-c4e87987dbce""#,
        ),
        (
            "uuidv5",
            r#"["x","a"]"#,
            "error: uuidv5() doesn't support namespace x (invalid UUID length: 1)",
        ),
        (
            "bcrypt",
            r#"["U*U",5]"#,
            r#""$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW""#,
        ),
        (
            "bcrypt",
            r#"["a",32]"#,
            "error: error occurred generating password crypto/bcrypt: cost 32 is outside allowed range (4,31)",
        ),
        ("bcrypt", r#"["a",4,2]"#, "error: bcrypt() takes no more than two arguments"),
        (
            "rsadecrypt",
            r#"["x","y"]"#,
            "error at 0: failed to decode input \"x\": cipher text must be base64-encoded",
        ),
        ("rsadecrypt", r#"["aGk=","y"]"#, "error at 1: invalid private key: ssh: no key found"),
    ]);
}

/// The keys were made for this test. Another program encrypted "hello" with them.
#[test]
fn rsadecrypt_reads_three_key_formats() {
    let keys = [
        include_str!("keys/pkcs1.pem"),
        include_str!("keys/pkcs8.pem"),
        include_str!("keys/openssh.pem"),
    ];
    let encrypted = include_str!("keys/hello.base64");
    for key in keys {
        assert_eq!(call("rsadecrypt", &[encrypted.into(), key.into()]), Ok("hello".into()));
        let error = call("rsadecrypt", &["aGk=".into(), key.into()]).expect_err("not encrypted");
        assert_eq!(error.message, "failed to decrypt: crypto/rsa: decryption error");
    }
}

#[test]
fn path_functions_return_expected_results() {
    check(&[
        ("abspath", r#"["a/../b/./c//"]"#, r#""/here/b/c""#),
        ("abspath", r#"["/a/../../b"]"#, r#""/b""#),
        ("pathexpand", r#"["~/x"]"#, r#""/home/me/x""#),
        ("pathexpand", r#"["~you/x"]"#, "error: cannot expand user-specific home dir"),
        ("fileset", r#"[".","*"]"#, r#"toset([".hidden", "a.txt", "hello.txt"])"#),
        (
            "fileset",
            r#"["","**/*.{txt,md}"]"#,
            r#"toset(["a.txt", "d/b.txt", "d/e/c.md", "hello.txt"])"#,
        ),
        ("fileset", r#"["d","../[a-h]*.txt"]"#, r#"toset(["../a.txt", "../hello.txt"])"#),
        ("fileset", r#"["d","?.txt"]"#, r#"toset(["b.txt"])"#),
        ("fileset", r#"["d","[^b].txt"]"#, "toset([])"),
        (
            "fileset",
            r#"["d","["]"#,
            "error: failed to glob pattern \"d/[\": syntax error in pattern",
        ),
        ("fileset", r#"["nosuch","**"]"#, "toset([])"),
        (
            "templatestring",
            r#"["hi",{"a b":1}]"#,
            "error at 1: invalid template variable name \"a b\": must start with a letter, \
             followed by zero or more letters, digits, and underscores",
        ),
    ]);
}

#[test]
fn patterns_are_those_of_re2() {
    check(&[
        ("regexall", r#"["\\d+","1\u0661"]"#, r#"tolist(["1"])"#),
        ("regexall", r#"["\\Qa.b\\E.","a.bc axbc"]"#, r#"tolist(["a.bc"])"#),
        ("regexall", r#"["[\\w&&[]+","a&["]"#, r#"tolist(["a&["])"#),
        ("regex", r#"["a|ab","ab"]"#, r#""a""#),
    ]);
}

#[test]
fn removed_functions_name_their_replacement() {
    check(&[
        (
            "list",
            "[1]",
            "error: the \"list\" function was deprecated in Terraform v0.12 and is no longer \
             available; use tolist([ ... ]) syntax to write a literal list",
        ),
        (
            "map",
            "[]",
            "error: the \"map\" function was deprecated in Terraform v0.12 and is no longer \
             available; use tomap({ ... }) syntax to write a literal map",
        ),
    ]);
}

#[test]
fn assume_functions_return_or_refuse_their_argument() {
    check(&[
        ("assumenotnull", "[1]", "1"),
        ("assumenotnull", "[null]", "error at 0: assumption was not upheld"),
        ("assumestringprefix", r#"["ami-1","ami-"]"#, r#""ami-1""#),
        ("assumestringprefix", r#"["x","ami-"]"#, "error at 0: assumption was not upheld"),
        ("assumelistlength", "[[1,2],1,2]", "tolist([1, 2])"),
        ("assumelistlength", "[[1,2],3,4]", "error at 0: assumption was not upheld"),
        (
            "assumelistlengthmin",
            "[[1],1.5]",
            "error at 1: must be a whole number between 0 and 9223372036854775807",
        ),
        ("assumesetlengthmax", "[[1,1],1]", "toset([1])"),
        ("assumemaplengthmax", r#"[{"a":1},0]"#, "error at 0: assumption was not upheld"),
        ("assumeequal", r#"["1",1]"#, "1"),
        (
            "assumeequal",
            r#"[[],1]"#,
            "error at 0: actual value type tuple does not match assumed value type number",
        ),
        (
            "assumeequal",
            r#"[2,1]"#,
            "error at 0: the actual value does not match the assumed value",
        ),
    ]);
}
