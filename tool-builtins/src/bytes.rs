//! What bytes are that nothing says anything about: text in some encoding, or something else.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, WINDOWS_1252};

/// The legacy encoding that a text which is not UTF-8 looks most like, from its beginning or all of it.
///
/// One in which all of it cannot be read is none; in windows-1252 everything can.
pub(crate) fn guess_encoding(bytes: &[u8], is_all: bool) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(bytes, is_all);
    let encoding = detector.guess(None, Utf8Detection::Deny);
    let is_wrong = encoding.decode_without_bom_handling_and_without_replacement(bytes).is_none();
    if is_all && is_wrong { WINDOWS_1252 } else { encoding }
}

/// The media type of something that is no text, by how it begins.
pub(crate) fn media_type(bytes: &[u8]) -> Option<&'static str> {
    let kind = infer::get(bytes)?;
    (kind.matcher_type() != infer::MatcherType::Text).then(|| kind.mime_type())
}
