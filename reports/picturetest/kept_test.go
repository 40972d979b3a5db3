package picturetest

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// recorder is a test that is asked for its errors.
type recorder struct {
	testing.TB
	errors, logs []string
}

func (r *recorder) Helper() {}
func (r *recorder) Errorf(format string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}
func (r *recorder) Error(args ...any) { r.errors = append(r.errors, fmt.Sprint(args...)) }
func (r *recorder) Logf(format string, args ...any) {
	r.logs = append(r.logs, fmt.Sprintf(format, args...))
}

// page is a picture with lines of text, and what is drawn over it.
func page(tall int, over image.Rectangle) []byte {
	m := image.NewRGBA(image.Rect(0, 0, 360, tall))
	draw.Draw(m, m.Bounds(), image.NewUniform(color.White), image.Point{}, draw.Src)
	for y := 10; y < tall; y += 20 {
		for x := 10; x < 300; x += 6 {
			draw.Draw(m, image.Rect(x, y, x+3, y+9), image.NewUniform(color.Gray{uint8(x % 90)}), image.Point{}, draw.Src)
		}
	}
	draw.Draw(m, over, image.NewUniform(color.RGBA{200, 30, 30, 255}), image.Point{}, draw.Src)
	var out bytes.Buffer
	_ = png.Encode(&out, m) // to memory
	return out.Bytes()
}

// Goal: a page that looks as it did passes, one that looks different does not, and by another browser nothing is said of
// either. Method: a picture is kept, and held against itself, against one with a box over it, a longer one, a missing
// one, and one by another browser.
func TestKept(t *testing.T) {
	dir := t.TempDir()
	Kept(t, true, dir, "page", "Chrome/1", page(800, image.Rectangle{}))
	if info, err := os.Stat(filepath.Join(dir, "page.png")); err != nil || info.Size() > 10_000 {
		t.Fatal(info, err)
	}
	for _, tc := range []struct {
		what, name, browser string
		shot                []byte
		want                string
	}{
		{"the same", "page", "Chrome/1", page(800, image.Rectangle{}), ""},
		{"one pixel", "page", "Chrome/1", page(800, image.Rect(50, 50, 52, 52)), ""},
		{"a box", "page", "Chrome/1", page(800, image.Rect(50, 48, 200, 120)), "first at (48,48)"},
		{"longer", "page", "Chrome/1", page(900, image.Rectangle{}), "first at (0,800)"},
		{"shorter", "page", "Chrome/1", page(700, image.Rectangle{}), "shows another page"},
		{"none", "other", "Chrome/1", page(800, image.Rectangle{}), "no such file"},
		{"another browser", "page", "Chrome/2", page(900, image.Rectangle{}), ""},
	} {
		r := &recorder{TB: t}
		Kept(r, false, dir, tc.name, tc.browser, tc.shot)
		if got := strings.Join(r.errors, "\n"); tc.want == "" && got != "" || !strings.Contains(got, tc.want) {
			t.Errorf("%s: %q, want %q", tc.what, got, tc.want)
		}
		if said := len(r.logs) > 0; said != (tc.browser == "Chrome/2") {
			t.Errorf("%s: %q", tc.what, r.logs)
		}
	}
}
