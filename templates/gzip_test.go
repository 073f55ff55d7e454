package templates_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fairdoor-gate/fairdoor/templates"
)

// unpacked is what a browser reads.
func unpacked(t require.TestingT, packed []byte) string {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	require.NoError(t, err)
	text, err := io.ReadAll(r)
	require.NoError(t, err)
	return string(text)
}

func TestACompressedPageIsThePage(t *testing.T) {
	sets := []*templates.Set{newSet(t, templates.Options{})}
	for _, source := range []string{"x", "{{address}}{{lastUpdated}}{{address}}", "{{usersAhead}} <b>{{position}}</b>{{{client}}}"} {
		page, err := templates.Parse([]byte(source))
		require.NoError(t, err)
		sets = append(sets, newSet(t, templates.Options{Custom: page}))
	}
	rapid.Check(t, func(t *rapid.T) {
		set := rapid.SampledFrom(sets).Draw(t, "set")
		data := anyData().Draw(t, "data")
		v := anyVisitor(data.Place).Draw(t, "visitor")
		page := set.Page("fr-FR", data)
		require.True(t, page.Packs(v))
		require.Equal(t, string(page.AppendTo(nil, v)), unpacked(t, page.AppendGzip(nil, v)))
	})
}

func TestAPageWithALongAddressIsNotCompressed(t *testing.T) {
	page := newSet(t, templates.Options{}).Page("en-US", state(t, "fifo"))
	v := at(templates.Place{})
	v.Address = "/" + strings.Repeat("&", 8<<10-1)
	require.True(t, page.Packs(v))
	assert.Equal(t, string(page.AppendTo(nil, v)), unpacked(t, page.AppendGzip(nil, v)))
	v.Address += "&"
	assert.False(t, page.Packs(v))
	assert.False(t, newSet(t, templates.Options{}).JSON(state(t, "fifo")).Packs(v), "JSON is small")
}

func TestTheBuiltInPageIsSmall(t *testing.T) {
	for _, code := range codes(t) {
		page := newSet(t, templates.Options{}).Page(code, state(t, "fifo"))
		assert.LessOrEqual(t, len(page.AppendGzip(nil, at(templates.Place{}))), 9<<10+768, code)
		assert.LessOrEqual(t, len(page.AppendTo(nil, at(templates.Place{}))), 23<<10, code)
	}
}

func TestCompressingForAVisitorAllocatesNothing(t *testing.T) {
	page, buffer := newSet(t, templates.Options{}).Page("en-US", state(t, "fifo")), make([]byte, 0, 32<<10)
	assert.Zero(t, testing.AllocsPerRun(100, func() { buffer = page.AppendGzip(buffer[:0], at(templates.Place{})) }))
}

func BenchmarkAppendGzip(b *testing.B) {
	page, buffer := newSet(b, templates.Options{}).Page("en-US", state(b, "fifo")), make([]byte, 0, 32<<10)
	b.ReportAllocs()
	for b.Loop() {
		buffer = page.AppendGzip(buffer[:0], at(templates.Place{}))
	}
	b.ReportMetric(float64(len(buffer)), "bytes/page")
}

// BenchmarkGzipEach compresses the page anew for each visitor, to compare with.
func BenchmarkGzipEach(b *testing.B) {
	page := newSet(b, templates.Options{}).Page("en-US", state(b, "fifo")).AppendTo(nil, at(templates.Place{}))
	var buffer bytes.Buffer
	w, err := gzip.NewWriterLevel(&buffer, gzip.BestSpeed)
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		buffer.Reset()
		w.Reset(&buffer)
		_, _ = w.Write(page)
		_ = w.Close()
	}
	b.ReportMetric(float64(buffer.Len()), "bytes/page")
}
