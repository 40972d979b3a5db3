package suite

import (
	"fmt"
	"slices"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/ginkgo/v2/types"

	"github.com/vppdrill/vppdrill/scenarios"
)

// Specs defines one spec per scenario, named "WORLD TOPIC NAME" and labeled with the scenario's labels, its topic and
// its World, so that -ginkgo.label-filter 'restart && !slow' chooses from them. Call it where containers may stand: in
// a variable declaration, in a Describe, or before RunSpecs in the test function. The result is always true.
//
// Like regexp.MustCompile it panics when its input is wrong, with one line that names file and place: specs are built
// before anything can fail, and a failing spec in its stead could be filtered out.
func Specs(o Options) bool {
	o = o.withDefaults()
	if o.Factory == nil {
		panic("suite: Options.Factory is missing")
	}
	all, err := o.rehearsals()
	if err != nil {
		panic(fmt.Errorf("suite: %w", err))
	}
	return ginkgo.Describe(o.World, ginkgo.Label(o.World), func() {
		for len(all) > 0 {
			topic := all[0].topic
			n := slices.IndexFunc(all, func(r rehearsal) bool { return r.topic != topic })
			if n < 0 {
				n = len(all)
			}
			o.describe(topic, all[:n])
			all = all[n:]
		}
	})
}

// describe defines the specs of neighbors with one topic.
func (o *Options) describe(topic string, list []rehearsal) {
	if topic == "" {
		for _, r := range list {
			o.it(r)
		}
		return
	}
	ginkgo.Describe(topic, ginkgo.Label(topic), func() {
		for _, r := range list {
			o.it(r)
		}
	})
}

// it defines one spec. It stands at its scenario's file, so that editors jump there.
func (o *Options) it(r rehearsal) {
	args := []any{ginkgo.Label(r.s.Labels...), placeOf(r.s), func(ctx ginkgo.SpecContext) { o.rehearse(ctx, r.s) }}
	ginkgo.It(r.s.Name, append(args, o.Decorators...)...)
}

// placeOf is where Ginkgo says that a scenario stands; one without a file stands nowhere but in its name.
func placeOf(s *scenarios.Scenario) types.CodeLocation {
	if s.File == "" {
		return types.NewCustomCodeLocation("scenario " + s.Name)
	}
	return types.CodeLocation{FileName: s.File, LineNumber: 1}
}
