package strictyaml

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Wrong is the ValueError that quotes a text: "x" is not a number.
func Wrong(text, format string, args ...any) *ValueError {
	return &ValueError{Message: strconv.Quote(text) + " " + fmt.Sprintf(format, args...)}
}

// Set reads text into v, a number, a truth value or a string, and checks the bounds and words of the tag. Without min,
// numbers start at 0.
func Set(v reflect.Value, tag reflect.StructTag, text string) *ValueError {
	switch v.Kind() {
	case reflect.String:
		if err := CheckWords(Enum(tag), text); err != nil {
			return err
		}
		v.SetString(text)
		return nil
	case reflect.Bool:
		if text != "true" && text != "false" {
			return &ValueError{Wrong(text, "is not true or false").Message, Nearest(text, []string{"true", "false"})}
		}
		v.SetBool(text == "true")
		return nil
	case reflect.Int, reflect.Int64, reflect.Uint8, reflect.Uint16, reflect.Uint32:
		return setWhole(v, tag, text)
	case reflect.Float64:
		return setNumber(v, tag, text)
	}
	panic(fmt.Sprintf("strictyaml: no scalar of type %s", v.Type()))
}

// CheckWords refuses a text that is none of the words, if there are any.
func CheckWords(words []string, text string) *ValueError {
	switch {
	case words == nil || slices.Contains(words, text):
		return nil
	case len(words) == 1:
		return &ValueError{Wrong(text, "is not %s", words[0]).Message, Nearest(text, words)}
	}
	return &ValueError{Wrong(text, "is not one of %s", strings.Join(words, ", ")).Message, Nearest(text, words)}
}

func setWhole(v reflect.Value, tag reflect.StructTag, text string) *ValueError {
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return Wrong(text, "is out of range")
	case err != nil:
		return Wrong(text, "is not a whole number")
	}
	low, high := int64(0), int64(math.MaxInt64)
	if v.CanUint() {
		high = 1<<v.Type().Bits() - 1
	}
	if s := tag.Get("min"); s != "" {
		low = mustWhole(s)
	}
	if s := tag.Get("max"); s != "" {
		high = mustWhole(s)
	}
	switch {
	case n < low:
		return &ValueError{fmt.Sprintf("%d is less than %d", n, low), ""}
	case n > high:
		return &ValueError{fmt.Sprintf("%d is more than %d", n, high), ""}
	case v.CanUint():
		v.SetUint(uint64(n))
	default:
		v.SetInt(n)
	}
	return nil
}

func setNumber(v reflect.Value, tag reflect.StructTag, text string) *ValueError {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || strings.ContainsAny(text, "xX_iInN") {
		return Wrong(text, "is not a number")
	}
	low, high := Bound(tag.Get("min")), Bound(tag.Get("max"))
	switch {
	case f < low:
		return &ValueError{fmt.Sprintf("%s is less than %g", text, low), ""}
	case f > high:
		return &ValueError{fmt.Sprintf("%s is more than %g", text, high), ""}
	}
	v.SetFloat(f + 0) // the sum turns -0 into 0
	return nil
}

// mustWhole reads a bound of our own tags.
func mustWhole(tag string) int64 {
	n, err := strconv.ParseInt(tag, 10, 64)
	if err != nil {
		panic("strictyaml: bound " + strconv.Quote(tag) + " in a tag")
	}
	return n
}

// Bound reads the number in a min or max tag; anything else is a mistake of the program and panics.
func Bound(tag string) float64 {
	f, err := strconv.ParseFloat(tag, 64)
	if err != nil {
		panic("strictyaml: bound " + strconv.Quote(tag) + " in a tag")
	}
	return f
}
