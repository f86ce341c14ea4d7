//! Violations by numbers and strings.

use serde_json::json;

use super::{FITS, fits, found, no_defs, table};

#[test]
fn ranges_are_described_as_a_whole() {
    table(
        json!({"type": "integer", "minimum": 1, "maximum": 100}),
        &[
            (json!(1), FITS),
            (json!(100.0), FITS),
            (json!(0), &[" | 0 | integer between 1 and 100"]),
            (json!(101), &[" | 101 | integer between 1 and 100"]),
            (json!(1.5), &[" | 1.5 | integer between 1 and 100"]),
            (json!("5"), &[r#" | "5" | integer between 1 and 100"#]),
        ],
    );
    table(json!({"type": "integer", "minimum": 0}), &[(json!(-1), &[" | -1 | integer of at least 0"])]);
    table(json!({"maximum": 0.5}), &[(json!(1), &[" | 1 | number of at most 0.5"]), (json!("x"), FITS)]);
    table(
        json!({"type": "number", "exclusiveMinimum": 0, "maximum": 1}),
        &[
            (json!(0.1), FITS),
            (json!(0), &[" | 0 | number greater than 0 and at most 1"]),
            (json!(-0.0), &[" | -0.0 | number greater than 0 and at most 1"]),
        ],
    );
    table(
        json!({"minimum": 0, "exclusiveMaximum": 1}),
        &[(json!(1), &[" | 1 | number of at least 0 and less than 1"])],
    );
    table(json!({"exclusiveMinimum": 0}), &[(json!(0), &[" | 0 | number greater than 0"])]);
    table(json!({"minimum": 5, "exclusiveMinimum": 3}), &[(json!(4), &[" | 4 | number of at least 5"])]);
    table(json!({"minimum": 3, "exclusiveMinimum": 3}), &[(json!(3), &[" | 3 | number greater than 3"])]);
}

#[test]
fn big_integers_are_not_rounded() {
    table(
        json!({"maximum": 9_007_199_254_740_992_u64}),
        &[
            (json!(9_007_199_254_740_992_u64), FITS),
            (json!(9_007_199_254_740_993_u64), &[" | 9007199254740993 | number of at most 9007199254740992"]),
        ],
    );
    table(
        json!({"const": u64::MAX}),
        &[(json!(u64::MAX), FITS), (json!(u64::MAX - 1), &[" | 18446744073709551614 | exactly 18446744073709551615"])],
    );
    assert!(!fits(&json!({"const": u64::MAX}), &json!(18_446_744_073_709_551_616.0)));
    assert!(fits(&json!({"const": 1000}), &json!(1e3)) && fits(&json!({"maximum": 1e3}), &json!(1000)));
    assert!(fits(&json!({"const": 1e19}), &json!(10_000_000_000_000_000_000_u64)));
    let range = json!({"minimum": i64::MIN, "exclusiveMaximum": 1e300});
    assert!(fits(&range, &json!(i64::MIN)) && fits(&range, &json!(u64::MAX)) && fits(&range, &json!(9.9e299)));
    assert!(!fits(&range, &json!(-9.3e18)) && !fits(&range, &json!(1e300)));
    table(json!({"minimum": 0.5}), &[(json!(0), &[" | 0 | number of at least 0.5"]), (json!(1), FITS)]);
    table(json!({"maximum": -0.5}), &[(json!(0), &[" | 0 | number of at most -0.5"]), (json!(-1), FITS)]);
}

#[test]
fn multiples() {
    table(
        json!({"type": "integer", "minimum": 0, "multipleOf": 5}),
        &[(json!(10), FITS), (json!(7), &[" | 7 | integer of at least 0 that is a multiple of 5"])],
    );
    table(
        json!({"multipleOf": 0.1}),
        &[
            (json!(0.3), FITS),
            (json!(1), FITS),
            (json!(1_070_468.1), FITS),
            (json!(-0.7), FITS),
            (json!(0), FITS),
            (json!(0.35), &[" | 0.35 | number that is a multiple of 0.1"]),
        ],
    );
    for (divisor, multiple, other) in
        [(1e-300, 1e300, 1.5e-300), (1e300, 3e300, 3.0), (3.0, 3e30, 1e30), (0.7, 2.1, 2.2)]
    {
        let schema = json!({"multipleOf": divisor});
        assert!(fits(&schema, &json!(multiple)) && fits(&schema, &json!(0)), "{multiple} of {divisor}");
        assert!(!fits(&schema, &json!(other)), "{other} of {divisor}");
    }
    table(json!({"multipleOf": u64::MAX}), &[(json!(u64::MAX), FITS)]);
}

#[test]
fn strings() {
    table(
        json!({"type": "string", "maxLength": 5}),
        &[
            (json!("grüße"), FITS),
            (json!("größer"), &[r#" | "größer" | string of at most 5 characters"#]),
            (json!(7), &[" | 7 | string of at most 5 characters"]),
        ],
    );
    table(json!({"minLength": 1}), &[(json!(""), &[r#" | "" | string of at least 1 character"#])]);
    table(json!({"minLength": 2, "maxLength": 3.0}), &[(json!("😀"), &[r#" | "😀" | string of 2 to 3 characters"#])]);
    table(json!({"minLength": 2, "maxLength": 2}), &[(json!("x"), &[r#" | "x" | string of exactly 2 characters"#])]);
    table(
        json!({"pattern": "^a+$"}),
        &[(json!("aa"), FITS), (json!("ab"), &[r#" | "ab" | string that matches `^a+$`"#])],
    );
    table(json!({"pattern": "b"}), &[(json!("abc"), FITS)]);
    table(
        json!({"type": "string", "maxLength": 3, "pattern": "^[a-z]+$", "format": "uuid"}),
        &[
            (
                json!("ABCD"),
                &[
                    r#" | "ABCD" | string of at most 3 characters"#,
                    r#" | "ABCD" | string in the format uuid"#,
                    r#" | "ABCD" | string that matches `^[a-z]+$`"#,
                ],
            ),
            (json!(null), &[" | null | string of at most 3 characters in the format uuid that matches `^[a-z]+$`"]),
        ],
    );
}

#[test]
fn formats() {
    let cases: [(&str, &[&str], &[&str]); 9] = [
        (
            "date-time",
            &["2024-02-29T12:30:00Z", "2024-05-01t00:00:00.123456+02:00", "1998-12-31T23:59:60z"],
            &["2024-05-01", "2024-05-01 00:00:00Z", "2024-05-01T00:00:00", "2023-02-29T00:00:00Z", "T", "ÄT12:00:00Z"],
        ),
        ("date", &["2024-02-29", "2000-02-29"], &["2024-2-1", "1900-02-29", "2024-13-01", "2024-00-10", "2024-01-00"]),
        (
            "time",
            &["00:00:00Z", "23:59:59.9-23:59", "15:59:60-08:00", "00:29:60+00:30"],
            &[
                "24:00:00Z",
                "12:00Z",
                "12:00:00",
                "12:00:60Z",
                "12:00:00.Z",
                "12:00:00+24:00",
                "12:00:00*01:00",
                "1é:00:00Z",
            ],
        ),
        (
            "uuid",
            &["2EB8AA08-aa98-11ea-b4aa-73b441d16380"],
            &[
                "2eb8aa08aa9811eab4aa73b441d16380",
                "2eb8aa08-aa98-11ea-b4aa-73b441d1638",
                "xxxxxxxx-aa98-11ea-b4aa-73b441d16380",
            ],
        ),
        (
            "email",
            &["joe@example.com", "a+b@localhost"],
            &["joe", "@x.org", "joe@", "a b@x.org", "a@b@c", "a@b..c", "a@.b"],
        ),
        ("ipv4", &["127.0.0.1"], &["127.0.0", "256.0.0.1", "1.2.3.4.5"]),
        ("ipv6", &["::1", "fe80::1:2"], &["12345::", "1:2"]),
        (
            "uri",
            &["https://example.com/a?b#c", "urn:isbn:1", "mailto:a@b"],
            &["example.com", "/a", "1a:b", "http://a b", ":x"],
        ),
        ("hostname", &["anything at all"], &[]),
    ];
    for (format, good, bad) in cases {
        let schema = json!({"format": format});
        for text in good {
            assert_eq!(found(&schema, no_defs(), &json!(text)), FITS, "{format} {text}");
        }
        for text in bad {
            let expected = format!(" | {} | string in the format {format}", json!(text));
            assert_eq!(found(&schema, no_defs(), &json!(text)), [expected], "{format} {text}");
        }
        assert_eq!(found(&schema, no_defs(), &json!(5)), FITS);
    }
}
