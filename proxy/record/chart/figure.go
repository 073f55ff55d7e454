package chart

import (
	"fmt"
	"math"
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

// mostRows is how many rows the table of a figure has.
const mostRows = 48

// Figure returns the chart with its title above it, in the sizes for wide and narrow pages,
// and with a table of its values for those who cannot see it: of the highest value of each
// time, where there are too many. The page needs Style.
func (l Lines) Figure() string {
	wide, narrow := l, l
	wide.Size, narrow.Size = Wide, Narrow
	return figure(l.Title, wide.SVG(), narrow.SVG(), l.table())
}

// Figure is that of Lines.
func (b Bars) Figure() string {
	wide, narrow := b, b
	wide.Size, narrow.Size = Wide, Narrow
	return figure(b.Title, wide.SVG(), narrow.SVG(), b.table())
}

func figure(title, wide, narrow, table string) string {
	return fmt.Sprintf(`<figure class="chart-figure"><figcaption>%s</figcaption><div class="chart-wide">%s</div><div class="chart-narrow">%s</div>`+
		`<details><summary>As a table</summary><div tabindex="0" role="group" aria-label="%s">%s</div></details></figure>`,
		escape(title), wide, narrow, escape(title), table)
}

// row writes a row of a table.
func row(b *strings.Builder, first string, cells ...string) {
	fmt.Fprintf(b, "<tr><td>%s</td>", escape(first))
	for _, cell := range cells {
		fmt.Fprintf(b, "<td>%s</td>", escape(cell))
	}
	b.WriteString("</tr>")
}

func head(b *strings.Builder, names ...string) {
	b.WriteString("<table><thead><tr>")
	for _, name := range names {
		fmt.Fprintf(b, `<th scope="col">%s</th>`, escape(name))
	}
	b.WriteString("</tr></thead><tbody>")
}

func (b Bars) table() string {
	var t strings.Builder
	head(&t, "Range", "Number")
	for _, bar := range b.Bars {
		if bar.Value != 0 {
			row(&t, bar.Name, cell(bar.Value)+b.Unit)
		}
	}
	t.WriteString("</tbody></table>")
	return t.String()
}

// cell writes a value in a table.
func cell(v float64) string {
	if !usable(v) {
		return "unknown"
	}
	return FormatValue(v)
}

func (l Lines) table() string {
	l = l.withDefaults()
	var t strings.Builder
	names := []string{"Time"}
	for _, line := range l.Lines {
		names = append(names, line.Name)
	}
	marks := len(l.shown()) > 0
	if marks {
		names = append(names, "In force")
	}
	head(&t, names...)
	each := l.rowTime()
	for at := l.From.Truncate(each); !at.After(l.To); at = at.Add(each) {
		cells := make([]string, len(l.Lines))
		for i, line := range l.Lines {
			cells[i] = cell(l.highest(line.Values, at, at.Add(each)))
		}
		if marks {
			cells = append(cells, l.during(at, at.Add(each)))
		}
		row(&t, l.clock(at), cells...)
	}
	t.WriteString("</tbody></table>")
	return t.String()
}

// clock writes a moment of the axis.
func (l *Lines) clock(at time.Time) string {
	if l.To.Sub(l.From) > 24*time.Hour {
		return at.In(l.Zone).Format("2 Jan 15:04")
	}
	return at.In(l.Zone).Format("15:04")
}

// rowTime is the time that a row of the table sums up.
func (l *Lines) rowTime() time.Duration {
	span := l.To.Sub(l.From)
	for _, s := range steps {
		if span/s < mostRows {
			return s
		}
	}
	return (span/mostRows + time.Hour).Truncate(time.Hour)
}

// highest is the highest of the values of a time; NaN if none is known.
func (l *Lines) highest(values []float64, from, to time.Time) float64 {
	highest := math.NaN()
	for i := range min(len(values), len(l.Moments)) {
		if at := l.Moments[i]; at.Before(from) || !at.Before(to) || !usable(values[i]) {
			continue
		}
		if !(values[i] <= highest) {
			highest = values[i]
		}
	}
	return highest
}
