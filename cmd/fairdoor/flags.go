package main

import (
	"encoding"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
)

// readable is a pointer to what can be read from a text, and written as one.
type readable[T any] interface {
	*T
	encoding.TextUnmarshaler
	fmt.Stringer
}

// texts is the value of a flag that may be given several times, each time with the text of one T.
type texts[T any, P readable[T]] struct {
	kind string
	list *[]T
}

// textsOf is the value of a flag that adds to a list. The kind names the value in the help.
func textsOf[T any, P readable[T]](kind string, list *[]T) *texts[T, P] {
	return &texts[T, P]{kind, list}
}

// String lists what was given.
func (f *texts[T, P]) String() string {
	if f.list == nil { // pflag asks the zero value for the default
		return ""
	}
	all := make([]string, 0, len(*f.list))
	for i := range *f.list {
		all = append(all, P(&(*f.list)[i]).String())
	}
	return strings.Join(all, ",")
}

// Type names the kind of value in the help.
func (f *texts[T, P]) Type() string { return f.kind }

// Set adds what a text says.
func (f *texts[T, P]) Set(text string) error {
	var one T
	if err := P(&one).UnmarshalText([]byte(text)); err != nil {
		return err
	}
	*f.list = append(*f.list, one)
	return nil
}

// oneOf is the value of a flag that is one of some words.
type oneOf struct {
	pflag.Value
	words []string
}

// takesOneOf lets a flag be one of some words only.
func takesOneOf(f *pflag.FlagSet, flag string, words ...string) {
	of := f.Lookup(flag)
	of.Value = &oneOf{of.Value, words}
}

// Set suggests the nearest word for what is none.
func (o *oneOf) Set(text string) error {
	if !slices.Contains(o.words, text) {
		return fmt.Errorf("must be one of %s%s", strings.Join(o.words, ", "), didYouMean(text, o.words))
	}
	return o.Value.Set(text)
}

// share is the value of a flag that is a part of a whole: 0.5 or 50%.
type share float64

// String returns the share as a number.
func (s *share) String() string { return strconv.FormatFloat(float64(*s), 'g', -1, 64) }

// Type names the kind of value in the help.
func (s *share) Type() string { return "share" }

// Set reads a number with or without a % sign.
func (s *share) Set(text string) error {
	number, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	v, err := strconv.ParseFloat(number, 64)
	if percent {
		v /= 100
	}
	if err != nil || !(v >= 0 && v <= 1) {
		return errors.New("must be a share from 0 to 1, or from 0% to 100%")
	}
	*s = share(v)
	return nil
}
