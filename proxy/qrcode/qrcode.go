// Package qrcode draws links, so that a phone can read them off a screen.
package qrcode

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"rsc.io/qr/coding"
)

// URL returns a text as a QR code: an SVG in a URL with the scheme data.
func URL(text string) (string, error) {
	code, err := encode(text)
	if err != nil {
		return "", fmt.Errorf("drawing a link: %w", err)
	}
	const quiet = 4 // modules around the code (ISO 18004)
	b := fmt.Appendf(nil, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %[1]d %[1]d" shape-rendering="crispEdges"><path fill="#fff" d="M0 0h%[1]dv%[1]dH0z"/><path stroke="#000" d="`, code.Size+2*quiet)
	for y := range code.Size {
		for x := 0; x < code.Size; x++ {
			from := x
			for code.Black(x, y) {
				x++
			}
			if x > from { // a line through the middle of the modules
				b = strconv.AppendInt(append(b, 'M'), int64(from+quiet), 10)
				b = strconv.AppendInt(append(b, ' '), int64(y+quiet), 10)
				b = strconv.AppendInt(append(b, ".5h"...), int64(x-from), 10)
			}
		}
	}
	b = append(b, `"/></svg>`...)
	return "data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(b), nil
}

// alphanumeric are the characters that a code has in 5½ bits each, and not in 8.
const alphanumeric = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:"

// encode makes the smallest code of a text. The characters at its end that are alphanumeric are a
// part of their own, which is shorter.
func encode(text string) (*coding.Code, error) {
	head := strings.TrimRight(text, alphanumeric)
	parts := []coding.Encoding{coding.String(head), coding.Alpha(text[len(head):])}
	for version := coding.Version(coding.MinVersion); version <= coding.MaxVersion; version++ {
		if parts[0].Bits(version)+parts[1].Bits(version) > 8*version.DataBytes(coding.L) {
			continue
		}
		plan, err := coding.NewPlan(version, coding.L, 0)
		if err != nil {
			return nil, err
		}
		return plan.Encode(parts...)
	}
	return nil, errors.New("it is too long for a QR code")
}
