package result

import (
	"slices"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// SelectLaws returns the laws of all that judge s, in all's order. An unknown name is an *InputError with its position
// in the file.
func SelectLaws(s *scenarios.Scenario, all []fact.Law) ([]fact.Law, error) {
	names := make([]string, len(all))
	for i, law := range all {
		names[i] = law.Name
	}
	if err := s.CheckLaws(names); err != nil {
		return nil, err
	}
	if s.Laws == nil {
		return all, nil
	}
	return slices.DeleteFunc(slices.Clone(all), func(law fact.Law) bool { return !slices.Contains(s.Laws, law.Name) }), nil
}
