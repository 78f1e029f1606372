//! Numbers as text inside a page: little-endian bytes in base64 (RFC 4648, Section 4).

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Bytes as base64 with padding.
pub fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let byte = |index: usize| u32::from(group.get(index).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4 {
            let letter = ALPHABET[(bits >> (18 - 6 * place) & 63) as usize];
            text.push(if place > group.len() { '=' } else { char::from(letter) });
        }
    }
    text
}

/// Numbers in single precision.
pub fn singles(values: impl IntoIterator<Item = f64>) -> String {
    let bytes: Vec<u8> = values.into_iter().flat_map(|value| (value as f32).to_le_bytes()).collect();
    encode(&bytes)
}

/// Numbers in double precision.
pub fn doubles(values: impl IntoIterator<Item = f64>) -> String {
    let bytes: Vec<u8> = values.into_iter().flat_map(f64::to_le_bytes).collect();
    encode(&bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_encoded_as_the_standard_says() {
        // RFC 4648, Section 10.
        for (text, code) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(encode(text.as_bytes()), code);
        }
    }

    #[test]
    fn numbers_are_little_endian() {
        assert_eq!(singles([1.0]), encode(&[0, 0, 0x80, 0x3f]));
        assert_eq!(doubles([1.0]), encode(&[0, 0, 0, 0, 0, 0, 0xf0, 0x3f]));
    }
}
