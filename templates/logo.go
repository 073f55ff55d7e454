package templates

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
)

// maxLogo is how large the picture of a site may be, in bytes: everyone who waits loads it.
const maxLogo = 256 << 10

// Logo is a picture of a site, which the gate serves. It is immutable.
type Logo struct {
	// Name changes with the picture, so that a browser may keep it.
	Name string
	// Type is its media type.
	Type   string
	Source []byte
}

// logoTypes are the kinds of picture that every browser shows, and the ends of their names.
var logoTypes = map[string]string{
	"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp", "image/svg+xml": ".svg",
}

// NewLogo returns a picture of a site. It fails if the source is none that browsers show, or
// too large.
func NewLogo(source []byte) (*Logo, error) {
	kind := http.DetectContentType(source)
	if isSVG(source) {
		kind = "image/svg+xml"
	}
	end, ok := logoTypes[kind]
	switch {
	case !ok:
		return nil, errors.New("is no picture: expects PNG, JPEG, GIF, WebP or SVG")
	case len(source) > maxLogo:
		return nil, fmt.Errorf("has %d bytes: at most %d, as everyone who waits loads it", len(source), maxLogo)
	}
	sum := sha256.Sum256(source)
	return &Logo{Name: hex.EncodeToString(sum[:8]) + end, Type: kind, Source: source}, nil
}

// isSVG reports whether a source has an svg element at its beginning.
func isSVG(source []byte) bool {
	head := bytes.TrimSpace(source[:min(len(source), 1024)])
	return bytes.HasPrefix(head, []byte("<")) && bytes.Contains(head, []byte("<svg"))
}
