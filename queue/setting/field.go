// Package setting describes the fields of a struct of settings by their tags: their names,
// defaults and bounds, and how they are written in files and in JSON.
package setting

import (
	"cmp"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// A Field is a setting, as the tags of a struct's field describe it. It has the rules for its own
// value. Rules for several fields together belong to the struct.
type Field struct {
	Name     string   // of the yaml tag
	Usage    string   // a phrase that says what the setting is
	Default  string   // as a file would have it, "" for none
	Min, Max string   // of a number or a duration, or as characters of a text, "" for no bound of its own
	Choices  []string // the names that the value may be, or each of a list, nil if it may be anything
	Live     bool     // may be changed while a room runs
	Type     reflect.Type
	Tag      reflect.StructTag

	index []int
}

// A List is a type whose values are a text in Go, and a list of mappings in files and in JSON. Its
// text is that JSON.
type List interface {
	// ListOf says what it is a list of, for those who wrote something else.
	ListOf() string
}

// IsList says whether the field is a [List].
func (f *Field) IsList() bool { return f.Type.Implements(reflect.TypeFor[List]()) }

var durationType = reflect.TypeFor[time.Duration]()

const aDuration = "a duration such as 5m or 90s"

// Fields returns the fields of a struct type that have a yaml tag, in their order. In the place of
// a struct that is tagged yaml:",inline" it returns that struct's fields.
func Fields(t reflect.Type) []Field {
	var fields []Field
	for i := range t.NumField() {
		sf := t.Field(i)
		switch tag := sf.Tag.Get("yaml"); tag {
		case "", "-":
		case ",inline":
			for _, f := range Fields(sf.Type) {
				f.index = append([]int{i}, f.index...)
				fields = append(fields, f)
			}
		default:
			fields = append(fields, newField(sf, tag))
		}
	}
	return fields
}

func newField(sf reflect.StructField, name string) Field {
	get := sf.Tag.Get
	f := Field{
		Name: name, Usage: get("usage"), Default: get("default"), Min: get("min"), Max: get("max"), Live: get("live") != "no",
		Type: sf.Type, Tag: sf.Tag, index: sf.Index,
	}
	if words := get("choices"); words != "" {
		f.Choices = strings.Split(words, ",")
	}
	value := sf.Type
	if value.Kind() == reflect.Slice {
		value = value.Elem()
	}
	if c, ok := reflect.Zero(value).Interface().(interface{ Choices() []string }); ok {
		f.Choices = c.Choices()
	}
	if sf.Type.Kind() == reflect.Int {
		f.Min, f.Max = cmp.Or(f.Min, strconv.Itoa(math.MinInt32)), cmp.Or(f.Max, strconv.Itoa(math.MaxInt32))
	}
	return f
}

// Of returns the field of a struct. To set it, the struct has to be addressable.
func (f *Field) Of(s reflect.Value) reflect.Value { return s.FieldByIndex(f.index) }

// SetDefault sets the field of a struct to its default, if it has one.
func (f *Field) SetDefault(s reflect.Value) {
	if f.Default == "" {
		return
	}
	if v, problem := f.Parse(f.Default); problem == "" {
		f.Of(s).Set(v)
	}
}

// Wants names the kind of value that the field has, for a message about a value of another kind.
func (f *Field) Wants() string {
	switch {
	case f.IsList():
		return "a list of " + reflect.Zero(f.Type).Interface().(List).ListOf()
	case f.Type == durationType:
		return aDuration
	case f.Type.Kind() == reflect.Int:
		return "a whole number"
	case f.Type.Kind() == reflect.Float64:
		return "a number"
	case f.Type.Kind() == reflect.Bool:
		return "true or false"
	case f.Choices != nil:
		return "one of " + strings.Join(f.Choices, ", ")
	default:
		return "a string"
	}
}

// Parse reads the field's value. The problem is what is wrong with the text, "" for nothing; it
// continues a sentence that begins with the text.
func (f *Field) Parse(text string) (v reflect.Value, problem string) {
	if v, problem = f.read(text); problem == "" {
		problem = f.outOfBounds(v, text)
	}
	return v, problem
}

// read is Parse without the bounds.
func (f *Field) read(text string) (v reflect.Value, problem string) {
	v = reflect.New(f.Type).Elem()
	switch {
	case f.Type == durationType:
		return v, readDuration(v, text)
	case v.Kind() == reflect.Int:
		return v, readInt(v, text)
	case v.Kind() == reflect.Float64:
		return v, f.readFloat(v, text)
	case v.Kind() == reflect.Bool:
		return v, readBool(v, text)
	case f.Choices != nil && !slices.Contains(f.Choices, text):
		return v, "is not " + f.Wants()
	case v.Kind() == reflect.String && !f.IsList():
		v.SetString(text)
		return v, ""
	}
	return v, unmarshalText(v, text)
}

func (f *Field) readFloat(v reflect.Value, text string) string {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return "is not a number such as " + f.Default
	}
	v.SetFloat(n)
	return ""
}

func readBool(v reflect.Value, text string) string {
	b, err := strconv.ParseBool(text)
	if err != nil {
		return NotBool(text)
	}
	v.SetBool(b)
	return ""
}

// outOfBounds says what is wrong with a value that was read from the text, "" for nothing.
func (f *Field) outOfBounds(v reflect.Value, text string) string {
	switch value := v.Interface().(type) {
	case time.Duration:
		least, _ := time.ParseDuration(f.Min)
		most, _ := time.ParseDuration(f.Max)
		return f.outside(cmp.Compare(value, least), cmp.Compare(value, most), "short", "long")
	case int:
		least, _ := strconv.Atoi(f.Min)
		most, _ := strconv.Atoi(f.Max)
		problem := f.outside(cmp.Compare(value, least), cmp.Compare(value, most), "small", "large")
		if problem == "" && f.Choices != nil && !slices.Contains(f.Choices, text) {
			problem = "is not one of " + strings.Join(f.Choices, ", ")
		}
		return problem
	case string:
		if most, err := strconv.Atoi(f.Max); err == nil && utf8.RuneCountInString(value) > most {
			return fmt.Sprintf("is too long: at most %s characters", f.Max)
		}
	case float64:
		least, _ := strconv.ParseFloat(f.Min, 64)
		most, _ := strconv.ParseFloat(f.Max, 64)
		if !(value >= least && value <= most) { // so that NaN is neither
			return fmt.Sprintf("is out of bounds: from %s to %s", f.Min, f.Max)
		}
	}
	return ""
}

// outside says how a value is out of bounds that compares so with the least and the most that there
// may be.
func (f *Field) outside(withLeast, withMost int, below, above string) string {
	switch {
	case withMost > 0:
		return "is too " + above + ": at most " + f.Max
	case withLeast < 0:
		return "is too " + below + ": at least " + f.Min
	}
	return ""
}

func unmarshalText(v reflect.Value, text string) string {
	u, ok := v.Addr().Interface().(encoding.TextUnmarshaler)
	if !ok {
		return "cannot be written as text"
	}
	if err := u.UnmarshalText([]byte(text)); err != nil {
		if _, ok := v.Interface().(List); ok {
			return err.Error()
		}
		return "is not usable: " + err.Error()
	}
	return ""
}

// NotBool is the problem of a switch that is neither true nor false. For the words of older YAML it
// suggests one of them.
func NotBool(text string) string {
	const problem = "is not true or false"
	switch strings.ToLower(text) {
	case "yes", "on", "y", "t", "1", "true":
		return problem + " (did you mean true?)"
	case "no", "off", "n", "f", "0", "false":
		return problem + " (did you mean false?)"
	}
	return problem
}

var decimal = regexp.MustCompile(`^(0|-?[1-9][0-9]*)$`)

// readInt reads a whole number. A number that is too large for any machine is read as the largest
// that there is.
func readInt(v reflect.Value, text string) string {
	n, err := strconv.ParseInt(text, 10, 64)
	if !decimal.MatchString(text) || err != nil && !errors.Is(err, strconv.ErrRange) {
		return "is not a whole number in plain digits" + intHint(text)
	}
	v.SetInt(n)
	return ""
}

// intHint suggests the plain digits for a number with underscores or leading zeros, which not
// everybody reads alike.
func intHint(text string) string {
	digits := strings.TrimLeft(strings.ReplaceAll(text, "_", ""), "0+")
	if len(digits) > 18 || !decimal.MatchString(digits) {
		return ""
	}
	return fmt.Sprintf(" (did you mean %s?)", digits)
}

func readDuration(v reflect.Value, text string) string {
	d, err := time.ParseDuration(text)
	switch {
	case err != nil && decimal.MatchString(text):
		return fmt.Sprintf("has no unit: expects %s (did you mean %ss?)", aDuration, text)
	case err != nil:
		return "is not " + aDuration
	}
	v.SetInt(int64(d))
	return ""
}

// Text writes a value of the field as a file would have it.
func (f *Field) Text(v reflect.Value) string {
	switch value := v.Interface().(type) {
	case time.Duration:
		return FormatDuration(value)
	default:
		return fmt.Sprint(value)
	}
}

// FormatDuration writes a duration as a file would have it: 5m, not 5m0s.
func FormatDuration(d time.Duration) string {
	text := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = text[:len(text)-2]
		}
	}
	return text
}

// SetJSON sets the field of a struct to a value that JSON has. The error continues a sentence that
// begins with the field's name.
func (f *Field) SetJSON(s reflect.Value, value json.RawMessage) error {
	v, err := f.ParseJSON(value)
	if err == nil {
		f.Of(s).Set(v)
	}
	return err
}

// ParseJSON reads a value that JSON has, as Parse reads a text. The error continues a sentence that
// begins with the field's name.
func (f *Field) ParseJSON(value json.RawMessage) (reflect.Value, error) {
	text, err := f.textOf(value)
	if err != nil {
		return reflect.Value{}, err
	}
	v, problem := f.Parse(text)
	if problem != "" {
		return v, fmt.Errorf("is %s, which %s", value, problem)
	}
	return v, nil
}

// ReadJSON is ParseJSON without the bounds.
func (f *Field) ReadJSON(value json.RawMessage) (v reflect.Value, problem string) {
	text, err := f.textOf(value)
	if err != nil {
		return v, err.Error()
	}
	return f.read(text)
}

// textOf returns a value that JSON has as a file would have it. In JSON it has to be of the kind
// that JSON writes.
func (f *Field) textOf(value json.RawMessage) (string, error) {
	var given any
	if err := json.Unmarshal(value, &given); err != nil {
		return "", errors.New("is no JSON")
	}
	text, kind, fits := string(value), f.kindInJSON(), false
	switch given := given.(type) {
	case string:
		text, fits = given, kind == reflect.String && !f.IsList()
	case float64:
		fits = kind == reflect.Int || kind == reflect.Float64
	case bool:
		fits = kind == reflect.Bool
	case []any:
		fits = f.IsList()
	}
	if !fits {
		return "", errors.New("wants " + f.Wants())
	}
	return text, nil
}

// kindInJSON is the kind of the field's values in JSON: durations, and choices that are not
// numbers, are texts there.
func (f *Field) kindInJSON() reflect.Kind {
	kind := f.Type.Kind()
	if f.Type == durationType || f.Choices != nil && kind != reflect.Int {
		return reflect.String
	}
	return kind
}

// JSON writes a value of the field as JSON has it: numbers and switches as they are, the rest as
// text.
func (f *Field) JSON(v reflect.Value) (json.RawMessage, error) {
	if _, ok := v.Interface().(time.Duration); ok {
		return json.Marshal(f.Text(v))
	}
	return json.Marshal(v.Interface())
}
