package waitlist

import (
	"strconv"
	"strings"
)

// insert adds rows by one statement: over a network, that takes as long as to add one.
func (t *tx) insert(into string, rows [][]any) error {
	if len(rows) == 0 {
		return nil
	}
	var text strings.Builder
	text.WriteString(into + ` VALUES `)
	args := make([]any, 0, len(rows)*len(rows[0]))
	for i, row := range rows {
		if i > 0 {
			text.WriteString(`, `)
		}
		text.WriteString(`(` + placeholders(len(args), len(row)) + `)`)
		args = append(args, row...)
	}
	return t.exec(text.String(), args...)
}

// placeholders are those of so many values, after those before.
func placeholders(before, values int) string {
	names := make([]string, values)
	for i := range names {
		names[i] = `$` + strconv.Itoa(before+i+1)
	}
	return strings.Join(names, `, `)
}

// within puts lists of values in the places of $* in a query, whose other value is the list.
func (t *tx) within(query string, lists ...[]any) (text string, args []any) {
	args = []any{t.list}
	for _, values := range lists {
		query = strings.Replace(query, `$*`, placeholders(len(args), len(values)), 1)
		args = append(args, values...)
	}
	return query, args
}

// texts reads a column of texts of a query that has lists of texts in it: see within.
func (t *tx) texts(query string, lists ...[]string) (found map[string]bool, err error) {
	found = map[string]bool{}
	values := make([][]any, len(lists))
	for i, list := range lists {
		for _, text := range list {
			values[i] = append(values[i], text)
		}
	}
	text, args := t.within(query, values...)
	return found, each(t.ctx, t.on, text, args, func(scan func(into ...any) error) error {
		var text string
		err := scan(&text)
		found[text] = true
		return err
	})
}

// orNull is a text, or null for "".
func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

func oneOf(is bool) int64 {
	if is {
		return 1
	}
	return 0
}
