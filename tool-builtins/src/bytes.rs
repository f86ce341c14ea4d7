//! Detection of text encodings and media types.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};

/// Guesses the encoding of text that is not valid UTF-8. `is_all` says that `bytes` is the whole text, not just its start.
///
/// UTF-8 with a few invalid bytes is still UTF-8. A legacy encoding that cannot decode all of the bytes is ruled out in
/// favour of windows-1252, which can decode everything.
pub(crate) fn guess_encoding(bytes: &[u8], is_all: bool) -> &'static Encoding {
    if is_mostly_utf8(bytes) {
        return UTF_8;
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(bytes, is_all);
    let encoding = detector.guess(None, Utf8Detection::Deny);
    let is_wrong = encoding.decode_without_bom_handling_and_without_replacement(bytes).is_none();
    if is_all && is_wrong { WINDOWS_1252 } else { encoding }
}

/// Returns `true` if more than three quarters of the non-ASCII bytes belong to valid UTF-8 characters.
///
/// In legacy encodings the share is at most two fifths, by chance.
pub(crate) fn is_mostly_utf8(bytes: &[u8]) -> bool {
    let (mut valid, mut invalid) = (0_usize, 0_usize);
    for chunk in bytes.utf8_chunks() {
        valid += chunk.valid().bytes().filter(|byte| !byte.is_ascii()).count();
        invalid += chunk.invalid().len();
    }
    valid > 3 * invalid
}

/// Returns the media type of a binary file, detected from its first bytes.
pub(crate) fn media_type(bytes: &[u8]) -> Option<&'static str> {
    let kind = infer::get(bytes)?;
    (kind.matcher_type() != infer::MatcherType::Text).then(|| kind.mime_type())
}
