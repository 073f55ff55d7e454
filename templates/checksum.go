package templates

import "hash/crc32"

// checksum is what has to be known of a text to tell the CRC-32 of other text followed by it. So
// nobody has to read the text again, which is the same for all visitors.
//
// A CRC-32 is the remainder of a polynomial over GF(2), which the bits of the text are the
// coefficients of. To have n bytes follow multiplies by x^8n, and adds their own polynomial.
// crc32_combine of zlib does the same.
type checksum struct {
	sum   uint32 // of the text alone
	shift uint32 // x^8n of its n bytes
}

func checksumOf(text []byte) checksum {
	c := checksum{sum: crc32.ChecksumIEEE(text), shift: one}
	power := one >> 8 // x^8, x^16, x^32, …
	for n := len(text); n > 0; n /= 2 {
		if n%2 == 1 {
			c.shift = multiply(c.shift, power)
		}
		power = multiply(power, power)
	}
	return c
}

// after returns the CRC-32 of a text that has the sum before, followed by the text of c.
func (c checksum) after(before uint32) uint32 { return multiply(c.shift, before) ^ c.sum }

// one is the polynomial 1: the highest bit is the coefficient of x^0, and the lowest that of x^31.
const one uint32 = 1 << 31

// multiply multiplies polynomials modulo that of crc32.IEEE. It has no branches, since nobody can
// foresee them.
func multiply(a, b uint32) uint32 {
	product := uint32(0)
	for range 32 {
		product ^= b & -(a >> 31)
		a <<= 1
		b = b>>1 ^ crc32.IEEE&-(b&1) // times x: x^32 is left, which the polynomial reduces
	}
	return product
}
