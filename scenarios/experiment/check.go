package experiment

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/vppdrill/vppdrill/scenarios"
)

// Check says what is wrong with an experiment before anything is run. The error is a *scenarios.InputError.
func (f *File) Check() error {
	if !scenarios.IsName(f.Name) {
		return f.wrong("name", strconv.Quote(f.Name)+" is not lower case words joined by hyphens", "")
	}
	seen := map[string]bool{}
	for _, a := range f.Vary {
		at := "vary." + a.Field
		if err := f.field(at, a.Field); err != nil {
			return err
		}
		if _, err := levels(a.Levels); err != nil {
			return f.wrong(at, err.Error(), "")
		}
		seen[a.Field] = true
	}
	if _, err := points(f.Design, f.Vary); err != nil {
		return f.wrong("design", err.Error(), "")
	}
	for i, name := range f.Measure {
		if err := checkMetric(name); err != nil {
			return f.metric("measure["+strconv.Itoa(i)+"]", err)
		}
	}
	for _, check := range []func(map[string]bool) error{f.checkUntil, f.checkFind, f.checkAgainst} {
		if err := check(seen); err != nil {
			return err
		}
	}
	return nil
}

// field refuses a field that scenarios do not have.
func (f *File) field(at, name string) error {
	err := checkField(name)
	var unknown unknownField
	switch {
	case errors.As(err, &unknown):
		return f.wrong(at, fmt.Sprintf("a scenario has no field %q", unknown.path), unknown.nearest)
	case err != nil:
		return f.wrong(at, err.Error(), "")
	}
	return nil
}

func (f *File) metric(at string, err error) error {
	var unknown unknownMetric
	if errors.As(err, &unknown) {
		return f.wrong(at, fmt.Sprintf("no figure is called %q", unknown.name), unknown.nearest)
	}
	return f.wrong(at, err.Error(), "")
}

func (f *File) checkUntil(map[string]bool) error {
	if f.Until.Metric == "" {
		return nil
	}
	if err := checkMetric(f.Until.Metric); err != nil {
		return f.metric("until.metric", err)
	}
	if _, _, err := f.Until.width(); err != nil {
		return f.wrong("until.width", err.Error(), "")
	}
	return nil
}

// width is the number, and whether it is a share of the mean.
func (u Until) width() (x float64, relative bool, err error) {
	text, relative := strings.CutSuffix(strings.TrimSpace(u.Width), "%")
	x, err = strconv.ParseFloat(text, 64)
	if err != nil || x <= 0 {
		return 0, false, fmt.Errorf("%q is no width above 0, such as 0.5 or 5%%", u.Width)
	}
	if relative {
		x /= 100
	}
	return x, relative, nil
}

func (f *File) checkFind(varied map[string]bool) error {
	find := f.Find
	field, word := find.Field()
	switch {
	case find.Largest == "" && find.Smallest == "" && find.Where == "":
		return nil
	case find.Largest != "" && find.Smallest != "":
		return f.wrong("find.smallest", "contradicts find.largest; give one of them", "")
	case field == "":
		return f.wrong("find", "wants largest or smallest, the field to look for", "")
	case varied[field]:
		return f.wrong("find."+word, field+" is varied too", "")
	}
	if err := f.field("find."+word, field); err != nil {
		return err
	}
	list, err := levels(find.Within)
	if err == nil && len(list) < 2 {
		err = errors.New("wants two levels at least")
	}
	if err != nil {
		return f.wrong("find.within", err.Error(), "")
	}
	if _, err := readCondition(find.Where); err != nil {
		return f.metric("find.where", err)
	}
	if find.Seeds == 0 && find.few() {
		return f.wrong("find.most", fmt.Sprintf("%d runs can never show that it holds in %g%% of them with %g%% confidence", find.bound(), find.Share*100, find.Confidence*100), "")
	}
	return nil
}

// surest is the lower end of the interval when all of n runs fulfil a condition.
func surest(n int, z float64) float64 {
	low, _ := Wilson(n, n, z)
	return low
}

// Field is what is looked for, and the word that names it.
func (f Find) Field() (field, word string) {
	if f.Largest != "" {
		return f.Largest, "largest"
	}
	return f.Smallest, "smallest"
}

func (f *File) checkAgainst(varied map[string]bool) error {
	if len(f.Against) == 1 {
		return f.wrong("against", "one of it has nothing to be compared with; give two", "")
	}
	for i, a := range f.Against {
		at := "against." + a.Name
		switch {
		case a.Results != "" && len(a.Values) > 0:
			return f.wrong(at, "has results and settings; results have their own", "")
		case a.Results != "" && i == 0:
			return f.wrong(at, "results come behind what is compared with them", "")
		}
		for _, v := range a.Values {
			if err := f.field(at+"."+v.Field, v.Field); err != nil {
				return err
			}
			if varied[v.Field] {
				return f.wrong(at+"."+v.Field, "is varied too", "")
			}
		}
	}
	return nil
}
