package experiment

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
)

// pointsMost bounds a grid.
const pointsMost = 100000

// points are the combinations of levels that a design has.
func points(design string, axes []Axis) ([][]Value, error) {
	word, count, _ := strings.Cut(strings.TrimSpace(design), " ")
	switch word {
	case "", "grid":
		return grid(axes)
	case "latin":
		n, err := strconv.Atoi(strings.TrimSpace(count))
		if err != nil || n < 2 || n > pointsMost {
			return nil, fmt.Errorf("%q wants a number of points from 2 on: latin 50", design)
		}
		return latin(axes, n)
	}
	return nil, fmt.Errorf("%q is neither grid nor latin N", design)
}

// grid has every combination, the last axis' levels changing fastest.
func grid(axes []Axis) ([][]Value, error) {
	all := [][]Value{nil}
	for _, a := range axes {
		list, err := levels(a.Levels)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", a.Field, err)
		}
		if len(all)*len(list) > pointsMost {
			return nil, fmt.Errorf("more than %d points", pointsMost)
		}
		var next [][]Value
		for _, before := range all {
			for _, text := range list {
				next = append(next, append(append([]Value(nil), before...), Value{a.Field, text}))
			}
		}
		all = next
	}
	return all, nil
}

// latinSeed makes every Latin hypercube of the same axes the same.
const latinSeed = 1

// latin has n points of which each n-th part of each range holds one: a Latin hypercube. Lists are dealt out evenly.
func latin(axes []Axis, n int) ([][]Value, error) {
	if len(axes) == 0 {
		return nil, errors.New("a Latin hypercube wants a field to vary")
	}
	all := make([][]Value, n)
	rng := rand.New(rand.NewPCG(latinSeed, uint64(n)))
	for _, a := range axes {
		s, isSpan, err := readSpan(a.Levels)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", a.Field, err)
		}
		list, err := levels(a.Levels)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", a.Field, err)
		}
		for i, place := range rng.Perm(n) {
			text := list[place*len(list)/n]
			if isSpan {
				text = s.unit.text(s.at((float64(place) + rng.Float64()) / float64(n)))
			}
			all[i] = append(all[i], Value{a.Field, text})
		}
	}
	return all, nil
}
