package admin

import (
	_ "embed" // for the document
	"net/http"
)

// document describes the API in OpenAPI 3.1. A test holds it and the resources to each other.
//
//go:embed openapi.yaml
var document []byte

// Document returns the description of the API.
func Document() []byte { return document }

func getDocument(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/yaml")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(document) // whoever asked may be gone
}
