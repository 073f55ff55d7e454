package config

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"go.yaml.in/yaml/v4"
)

// reader reads a value into a T, and says whether it was right; where it was not, it has reported why and left T as it was.
type reader[T any] func(d *decoder, v value, dst *T) bool

// scalar is the text of a single value with its variables expanded, and whether that text has no type of its own.
func (d *decoder) scalar(v value, want string) (s string, loose, ok bool) {
	switch {
	case v.node.Kind != yaml.ScalarNode:
		d.fault(v.Place, "expects %s, got %s", want, kindOf(v.node))
		return "", false, false
	case isNull(v.node) && !v.loose:
		d.fault(v.Place, "has no value: expects %s (or take the line out)", want)
		return "", false, false
	case !slices.Contains([]string{"!!str", "!!int", "!!float", "!!bool", "!!timestamp"}, v.node.ShortTag()):
		d.fault(v.Place, "expects %s, got %s", want, kindOf(v.node))
		return "", false, false
	case v.from != fromFile:
		return v.node.Value, true, true
	}
	s, changed, problem := expand(v.node.Value, d.Env)
	if v.secret && changed && s == "" {
		problem = "is empty once its variables are put in"
	}
	if problem != "" {
		return "", false, d.problem(v, problem)
	}
	return s, changed && v.node.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) == 0, true
}

// str is a scalar that has to be a string.
func (d *decoder) str(v value, want string) (string, bool) {
	s, loose, ok := d.scalar(v, want)
	if !ok {
		return "", false
	}
	if !loose && v.node.ShortTag() != "!!str" {
		d.fault(v.Place, "expects %s, got %s: a string needs quotes here", want, kindOf(v.node))
		return "", false
	}
	return s, true
}

// aString reads a string; check says what is wrong with one, "" for nothing.
func aString[T any](field func(*T) *string, want string, check func(string) string) reader[T] {
	return func(d *decoder, v value, dst *T) bool {
		s, ok := d.str(v, want)
		if !ok {
			return false
		}
		if problem := check(s); problem != "" {
			return d.problem(v, problem)
		}
		*field(dst) = s
		return true
	}
}

// anything is the check of a string that may be anything.
func anything(string) string { return "" }

// aPath reads the path of a file: from the configuration file it is relative to that file's directory.
func aPath[T any](field func(*T) *string, want string) reader[T] {
	return func(d *decoder, v value, dst *T) bool {
		s, ok := d.str(v, want)
		if !ok {
			return false
		}
		if strings.ContainsFunc(s, unicode.IsControl) {
			return d.problem(v, "is no path")
		}
		*field(dst) = d.resolvePath(s, v.from)
		return true
	}
}

// oneOf reads one of a few words.
func oneOf[T any](field func(*T) *string, words ...string) reader[T] {
	want := "one of " + strings.Join(words, ", ")
	return func(d *decoder, v value, dst *T) bool {
		s, ok := d.str(v, want)
		if !ok {
			return false
		}
		if !slices.Contains(words, s) {
			return d.problem(v, fmt.Sprintf("is not %s%s", want, v.DidYouMean(words)))
		}
		*field(dst) = s
		return true
	}
}

// didYouMean suggests by what was written, never by what a variable in it stands for.
func (v value) DidYouMean(words []string) string { return DidYouMean(v.node.Value, words) }

// aBool reads true or false. Flags and variables may say 1 and 0 as well, as they do elsewhere.
func aBool[T any](field func(*T) *bool) reader[T] {
	const want = "true or false"
	return func(d *decoder, v value, dst *T) bool {
		s, loose, ok := d.scalar(v, want)
		if !ok {
			return false
		}
		b, err := strconv.ParseBool(s)
		plain := s == "true" || s == "false"
		if tag := v.node.ShortTag(); err == nil && (tag == "!!bool" || loose && (plain || v.from != fromFile)) {
			*field(dst) = b
			return true
		}
		return d.problem(v, "is not true or false"+boolHint(v))
	}
}

// boolHint turns the words of older YAML, and quoted ones, into those that count.
func boolHint(v value) string {
	switch strings.ToLower(v.node.Value) {
	case "yes", "on", "y", "t", "1", "true":
		return " (did you mean true?)"
	case "no", "off", "n", "f", "0", "false":
		return " (did you mean false?)"
	}
	return ""
}

var decimal = regexp.MustCompile(`^(0|-?[1-9][0-9]*)$`)

// anInt reads a whole number from least to most.
func anInt[T any](field func(*T) *int, least, most int) reader[T] {
	const want = "a whole number"
	return func(d *decoder, v value, dst *T) bool {
		s, loose, ok := d.scalar(v, want)
		if !ok {
			return false
		}
		n, err := strconv.Atoi(s)
		switch {
		case !loose && v.node.ShortTag() == "!!str" && decimal.MatchString(s):
			return d.problem(v, "is a string: without the quotes it is a whole number")
		case !loose && v.node.ShortTag() != "!!int" && !decimal.MatchString(s):
			return d.problem(v, "is not a whole number")
		case !decimal.MatchString(s):
			return d.problem(v, "is not a whole number in plain digits"+intHint(v))
		case err != nil || n > most:
			return d.problem(v, fmt.Sprintf("is too large: at most %d", most))
		case n < least:
			return d.problem(v, fmt.Sprintf("is too small: at least %d", least))
		}
		*field(dst) = n
		return true
	}
}

// intHint is for the ways of writing numbers that not everybody reads alike.
func intHint(v value) string {
	digits := strings.TrimLeft(strings.ReplaceAll(v.node.Value, "_", ""), "0+")
	if len(digits) > 18 || !decimal.MatchString(digits) {
		return ""
	}
	return fmt.Sprintf(" (did you mean %s?)", digits)
}

// oneOfInts reads one of a few numbers.
func oneOfInts[T any](field func(*T) *int, numbers ...int) reader[T] {
	words := make([]string, len(numbers))
	for i, n := range numbers {
		words[i] = strconv.Itoa(n)
	}
	read := anInt(func(n *int) *int { return n }, math.MinInt32, math.MaxInt32)
	return func(d *decoder, v value, dst *T) bool {
		var n int
		if !read(d, v, &n) {
			return false
		}
		if !slices.Contains(numbers, n) {
			return d.problem(v, "is not one of "+strings.Join(words, ", "))
		}
		*field(dst) = n
		return true
	}
}

// aFraction reads a number from least to most.
func aFraction[T any](field func(*T) *float64, least, most float64) reader[T] {
	return func(d *decoder, v value, dst *T) bool {
		s, loose, ok := d.scalar(v, "a number")
		if !ok {
			return false
		}
		f, err := strconv.ParseFloat(s, 64)
		tag := v.node.ShortTag()
		switch {
		case err != nil || !loose && tag != "!!float" && tag != "!!int":
			return d.problem(v, "is not a number such as 0.15")
		case !(f >= least && f <= most): // so that NaN is neither
			return d.problem(v, fmt.Sprintf("is out of bounds: from %g to %g", least, most))
		}
		*field(dst) = f
		return true
	}
}

// aDuration reads a duration from least to most.
func aDuration[T any](field func(*T) *time.Duration, least, most time.Duration) reader[T] {
	const want = "a duration such as 5m or 90s"
	return func(d *decoder, v value, dst *T) bool {
		s, _, ok := d.scalar(v, want)
		if !ok {
			return false
		}
		t, err := time.ParseDuration(s)
		switch {
		case err != nil && decimal.MatchString(v.node.Value):
			return d.problem(v, fmt.Sprintf("has no unit: expects %s (did you mean %ss?)", want, v.node.Value))
		case err != nil:
			return d.problem(v, "is not "+want)
		case t < least:
			return d.problem(v, "is too short: at least "+short(least))
		case t > most:
			return d.problem(v, "is too long: at most "+short(most))
		}
		*field(dst) = t
		return true
	}
}

// short prints a duration without the units that are zero.
func short(t time.Duration) string {
	s := t.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
