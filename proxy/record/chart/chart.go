// Package chart draws a room's day as SVG on the server: lines over time, with limits dashed
// and what is unknown left out, and bars. A chart fits its place: it is 360 units wide or
// more, its text is as large as that of a page at that width, and its colours are those of
// the page around it.
//
//	chart.go   the figure that a page has: a chart in two sizes, and a table of its values
//	canvas.go  what all charts are drawn with
//	lines.go   lines over time
//	times.go   the axis of time
//	bands.go   what is marked behind lines
//	bars.go    the bars of a histogram
//	live.go    a figure whose page shows its values, and marks of moments
//	spark.go   a small line in a table
//	timeline.go  a bar of times that follow each other
//
// A page gives the colours as CSS variables: --chart-1, --chart-2 and --chart-3 for the
// series, and --chart-limit for limits; they have defaults. Axes and text are in the page's
// own colour. The classes are chart, series, area, limit, band, grid and tick.
package chart

import (
	"fmt"
	"strings"
	"time"
)

// Style is the CSS that figures need, for the page that has them. It shows the chart that
// fits the width of the page, and gives the series colours for light and dark pages.
const Style = `.chart{max-width:100%;height:auto}
.chart-figure{margin:0 0 1.5rem}
.chart-figure figcaption{font-weight:600;margin-bottom:.4rem}
.chart-figure table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.85rem}
.chart-figure th,.chart-figure td{text-align:right;padding:.15rem .6rem;border-bottom:1px solid color-mix(in srgb,currentColor 18%,transparent)}
.chart-figure th:first-child,.chart-figure td:first-child{text-align:left}
.chart-figure details>div{overflow-x:auto;max-height:20rem}
.chart-narrow{display:none}
@media screen and (max-width:700px){.chart-wide{display:none}.chart-narrow{display:block}}
@media screen and (prefers-color-scheme:dark){:root{--chart-1:#6cb0ee;--chart-2:#f0944d;--chart-3:#b39ae8;--chart-limit:#ff7d7d}}
`

// content is what a chart shows.
type content interface {
	told() string   // what the chart shows, to those who cannot see it
	most() float64  // the largest of the values
	draw(c *canvas) // all of it
	table() table   // its values
}

// figure returns a chart with its title above it, in the sizes for wide and narrow pages, and
// with a table of its values for those who cannot see it. The page needs Style.
func figure(title string, of content) string {
	return fmt.Sprintf(`<figure class="chart-figure"><figcaption>%s</figcaption><div class="chart-wide">%s</div><div class="chart-narrow">%s</div>`+
		`<details><summary>As a table</summary><div tabindex="0" role="group" aria-label="%s">%s</div></details></figure>`,
		escape(title), svg(of, wide), svg(of, narrow), escape(title), of.table())
}

// table are the values of a chart.
type table struct {
	head []string
	rows []row
}

// row is one of a table. Where its page has a script, that tells its moment.
type row struct {
	at    time.Time // in UTC; zero where no script tells it
	cells []string
}

// String writes the table. The head of rows that a script tells the moments of has the place for the
// name of their zone.
func (t table) String() string {
	var b strings.Builder
	b.WriteString("<table><thead><tr>")
	for i, name := range t.head {
		zone := ""
		if i == 0 && len(t.rows) > 0 && !t.rows[0].at.IsZero() {
			zone = `, <span class="zone">UTC</span>`
		}
		fmt.Fprintf(&b, `<th scope="col">%s%s</th>`, escape(name), zone)
	}
	b.WriteString("</tr></thead><tbody>")
	for _, r := range t.rows {
		b.WriteString("<tr>")
		for i, cell := range r.cells {
			at := ""
			if i == 0 && !r.at.IsZero() {
				at = fmt.Sprintf(` data-at="%d"`, r.at.UnixMilli())
			}
			fmt.Fprintf(&b, "<td%s>%s</td>", at, escape(cell))
		}
		b.WriteString("</tr>")
	}
	b.WriteString("</tbody></table>")
	return b.String()
}
