//! Selections from documents, and hostile paths and documents.

use super::*;

const ANSWER: &str = r#"{"name":{"first":"Tom","last":"And\"erson"},"age":37.50,"ids":[9007199254740993,"1",1,1.0,null],
 "friends":[{"first":"Dale","age":44,"nets":["ig","fb"],"ok":true},{"first":"Roger","age":68,"nets":["fb"],"ok":false},
 {"first":"Jane","age":47,"tags":[{"k":"one"}]}],"fav.movie":"Deer Hunter","fa*":7,"nil":null,"":{"":5},"1":"one","@x":8,
 "empty":[], "nested":{"a":[ 1 , 2 ]}}"#;

/// Returns the raw text of a selection, or `-` if there is none.
fn raw(document: &str, path: &str) -> String {
    let document = Document::parse(document.as_bytes()).unwrap_or_else(|it| panic!("{it}"));
    let selected = document.select(path).unwrap_or_else(|it| panic!("{path}: {it}"));
    selected.map_or_else(|| "-".to_owned(), |it| it.raw().to_owned())
}

#[test]
fn paths_select_the_source_text_of_parts() {
    for (path, expected) in [
        ("name.first", "\"Tom\""),
        ("name.last", "\"And\\\"erson\""),
        ("age", "37.50"),
        ("age.x", "-"),
        ("missing", "-"),
        ("nil", "null"),
        ("nested.a", "[ 1 , 2 ]"),
        ("nested.a.1", "2"),
        ("ids.0", "9007199254740993"),
        ("ids.5", "-"),
        ("ids.-1", "-"),
        ("ids.x", "-"),
        ("ids.99999999999999999999999999", "-"),
        ("1", "\"one\""),
        ("na*.f?rst", "\"Tom\""),
        ("*.last", "\"And\\\"erson\""),
        ("fav\\.movie", "\"Deer Hunter\""),
        ("fa\\*", "7"),
        ("fa*", "\"Deer Hunter\""),
        ("@x", "8"),
        ("", "{\"\":5}"),
        (".", "5"),
        ("ids.", "-"),
        ("friends.#", "3"),
        ("empty.#", "0"),
        ("friends.#.first", "[\"Dale\",\"Roger\",\"Jane\"]"),
        ("friends.#.nets", "[[\"ig\",\"fb\"],[\"fb\"]]"),
        ("friends.#.nets.#", "[2,1]"),
        ("friends.#.nets.0", "[\"ig\",\"fb\"]"),
        ("friends.#.first|0", "\"Dale\""),
        ("friends.#.first|#", "3"),
        ("friends|0|first", "\"Dale\""),
        ("friends.0.@this.first", "\"Dale\""),
        ("@this.age", "37.50"),
        ("@this|@this|age", "37.50"),
        ("friends.#x", "-"),
        ("name.#", "-"),
        ("missing|@this", "-"),
    ] {
        assert_eq!(raw(ANSWER, path), expected, "{path}");
    }
}

#[test]
fn queries_select_elements_by_the_kind_of_their_values() {
    for (path, expected) in [
        ("friends.#(first==\"Roger\").age", "68"),
        ("friends.#( first = Roger ).age", "68"),
        ("friends.#(first==\"None\").age", "-"),
        ("friends.#(first==\"None\")#", "[]"),
        ("friends.#(age>45)#.first", "[\"Roger\",\"Jane\"]"),
        ("friends.#(age>=44)#.first|#", "3"),
        ("friends.#(age<\"47\").first", "\"Dale\""),
        ("friends.#(first%\"?an*\").first", "\"Jane\""),
        ("friends.#(first!%\"D*\")#.first", "[\"Roger\",\"Jane\"]"),
        ("friends.#(nets.#(==\"ig\"))#.first", "[\"Dale\"]"),
        ("friends.#(tags.#(k==\"one\")).first", "\"Jane\""),
        ("friends.#(ok==true).first", "\"Dale\""),
        ("friends.#(ok<true).first", "\"Roger\""),
        ("friends.#(ok!=true)#.first", "[\"Roger\"]"),
        ("friends.#(ok==~false)#.first", "[\"Roger\",\"Jane\"]"),
        ("friends.#(ok==~null)#.first", "[\"Jane\"]"),
        ("friends.#(ok!=~*)#.first", "[\"Jane\"]"),
        ("friends.#(tags)#.first", "[\"Jane\"]"),
        ("friends.#(nets==\"fb\")#", "[]"),
        ("friends.#(ok==\"x\")#", "[]"),
        ("ids.#(==\"1\")#", "[\"1\",1,1.0]"),
        ("ids.#(== 1)#", "[\"1\",1,1.0]"),
        ("ids.#(==9007199254740992)", "-"),
        ("ids.#(==9007199254740993)", "9007199254740993"),
        ("ids.#(==NaN)#", "[]"),
        ("ids.#(==1e999)#", "[]"),
        ("ids.#(>0)#", "[9007199254740993,\"1\",1,1.0]"),
        ("ids.#(==~null)#", "[null]"),
        ("ids.#(!)#", "[]"),
        ("ids.#()#", "[9007199254740993,\"1\",1,1.0,null]"),
        ("ids.#(x)#", "[]"),
        ("friends.#[first==\"Roger\"].age", "68"),
        ("friends.#(first==\"a)b|c.\").age", "-"),
        ("friends.#.nets.#(==\"fb\")|0", "\"fb\""),
    ] {
        assert_eq!(raw(ANSWER, path), expected, "{path}");
    }
    let array = r#"[{"id":"1","foo":"a"},{"id":3,"foo":"b"},{"isDefault":true}]"#;
    for (path, expected) in [
        ("#(id == 3)", r#"{"id":3,"foo":"b"}"#),
        ("#(id == 3).foo", "\"b\""),
        ("#(foo==\"a\")", r#"{"id":"1","foo":"a"}"#),
        ("#(id==\"1\")#", r#"[{"id":"1","foo":"a"}]"#),
        ("#(isDefault==true)", r#"{"isDefault":true}"#),
        ("@this", array),
    ] {
        assert_eq!(raw(array, path), expected, "{path}");
    }
}

#[test]
fn scalar_document_has_no_parts_but_itself() {
    for document in ["1", "\"{\\\"a\\\":1}\"", "null", "true"] {
        for path in ["a", "", "0", "#", "#.a", "#(a)"] {
            assert_eq!(raw(document, path), "-", "{document} {path}");
        }
        assert_eq!(raw(document, "@this"), document);
    }
}

#[test]
fn first_of_several_equal_keys_is_selected_unless_a_later_one_has_the_rest() {
    let document = r#"{"a":1,"a":{"b":2},"a":{"b":3}}"#;
    assert_eq!(raw(document, "a"), "1");
    assert_eq!(raw(document, "a.b"), "2");
}

#[test]
fn selected_part_becomes_plain_text() {
    let document = r#"["a\u00e9\"",-12345678901234567890,1.50,1e3,true,false,null,{"x": 1},[ ]]"#;
    let document = Document::parse(document.as_bytes()).unwrap_or_else(|it| panic!("{it}"));
    let texts =
        ["aé\"", "-12345678901234567890", "1.5", "1000", "true", "false", "", "{\"x\": 1}", "[ ]"];
    for (index, expected) in texts.iter().enumerate() {
        let selected = document.select(&index.to_string()).ok().flatten();
        assert!(selected.is_some_and(|it| it.text() == *expected), "{index}");
    }
}

#[test]
fn unsupported_and_broken_paths_are_errors() {
    let document = Document::parse(b"{\"a\":[1]}").unwrap_or_else(|it| panic!("{it}"));
    for path in [
        "@reverse",
        "a.@values",
        "a|@keys",
        "[a,b]",
        "{a}",
        "a.[x]",
        "!1",
        "..0",
        "a.#(",
        "a.#(x==\"",
        "a.#(x==1",
        "a.#[x(]",
        "@this:1",
        "a.#.#(",
    ] {
        match (path, document.select(path)) {
            // The elements of this array have no elements, so the query is not read.
            ("a.#.#(", result) => assert!(result.is_ok()),
            (_, result) => assert!(result.is_err(), "{path}"),
        }
    }
}

#[test]
fn hostile_documents_and_paths_end_in_bounded_time() {
    let deep = format!("{}1{}", "[".repeat(250), "]".repeat(250));
    assert_eq!(raw(&deep, &"0.".repeat(249)), "-");
    assert_eq!(raw(&deep, &vec!["0"; 250].join(".")), "1");
    assert_eq!(raw(&deep, &vec!["0"; 100_000].join(".")), "-");
    assert_eq!(raw(&deep, &vec!["#"; 250].join(".")), "[".repeat(249) + "1" + &"]".repeat(249));
    assert_eq!(raw("[1]", &"#(".repeat(10_000).replace("#(", "#(x)|")), "-");
    let nested = format!("{}x{}", "#(".repeat(20_000), ")".repeat(20_000));
    assert_eq!(raw(&deep, &nested), "-");
    assert_eq!(raw(&deep, &"@this|".repeat(1000)), "-");
    assert!(Document::parse("[".repeat(1_000_000).as_bytes()).is_err());
    assert!(Document::parse(b"\xff").is_err());
    assert!(Document::parse(b"").is_err());
    let document = Document::parse(b"{\"k\":[{\"k\":1}]}").unwrap_or_else(|it| panic!("{it}"));
    for path in
        ["\\", "k.\\", "k.#.\\", "k.#(k==\\", "|", "||", "k|", "#", "$", "k.$", "*", "é.é", "#(é"]
    {
        let _ = document.select(path);
    }
}
