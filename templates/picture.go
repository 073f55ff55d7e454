package templates

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
)

// maxPicture is how large a picture of a site may be, in bytes: everyone who waits loads it.
const maxPicture = 256 << 10

// Picture is a picture of a site, which the gate serves. It is immutable.
type Picture struct {
	// Name changes with the picture, so that a browser may keep it.
	Name string
	// Type is its media type.
	Type   string
	Source []byte
}

// pictureTypes are the kinds of picture that every browser shows, and the ends of their names.
var pictureTypes = map[string]string{
	"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp", "image/svg+xml": ".svg",
}

// NewPicture returns a picture of a site. It fails if the source is none that browsers show, or
// too large.
func NewPicture(source []byte) (*Picture, error) {
	kind := http.DetectContentType(source)
	if isSVG(source) {
		kind = "image/svg+xml"
	}
	end, ok := pictureTypes[kind]
	switch {
	case !ok:
		return nil, errors.New("is no picture: expects PNG, JPEG, GIF, WebP or SVG")
	case len(source) > maxPicture:
		return nil, fmt.Errorf("has %d bytes: at most %d, as everyone who waits loads it", len(source), maxPicture)
	}
	sum := sha256.Sum256(source)
	return &Picture{Name: hex.EncodeToString(sum[:8]) + end, Type: kind, Source: source}, nil
}

// isSVG reports whether a source has an svg element at its beginning.
func isSVG(source []byte) bool {
	head := bytes.TrimSpace(source[:min(len(source), 1024)])
	return bytes.HasPrefix(head, []byte("<")) && bytes.Contains(head, []byte("<svg"))
}
