package picturetest

import (
	"bytes"
	"crypto/sha256"
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

// Most is how many bytes a kept picture may have. A dozen of them must not weigh on the repository.
const Most = 220 << 10

// browserFile names the browser that took the pictures of a folder.
const browserFile = "browser.txt"

const (
	// square is the side of the compared squares in pixels: a few letters.
	square = 16
	// fine is by how much a square's mean of one channel may differ, of 255: letters that moved by a pixel do not.
	fine = 24
	// differMost is which share of squares may differ.
	differMost = 0.01
)

// Kept compares a page's picture, a PNG, with the file name.png that dir keeps of it, and fails if it shows something
// else. With rewrite it keeps the picture instead. browser is the version that took it: by another version the pictures
// are not compared, which the test's log says.
func Kept(t testing.TB, rewrite bool, dir, name, browser string, shot []byte) {
	t.Helper()
	now, err := png.Decode(bytes.NewReader(shot))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, name+".png")
	if rewrite {
		keep(t, dir, file, browser, now)
		return
	}
	by, err := os.ReadFile(filepath.Join(dir, browserFile))
	if err != nil {
		t.Error(err)
		return
	}
	if strings.TrimSpace(string(by)) != browser {
		t.Logf("%s is not compared: %s took it, and this is %s", file, strings.TrimSpace(string(by)), browser)
		return
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Error(err)
		return
	}
	old, err := png.Decode(bytes.NewReader(text))
	if err != nil {
		t.Errorf("%s: %v", file, err)
		return
	}
	if share, where := Differ(old, now); share > differMost {
		if kept := os.Getenv("VPPDRILL_PICTURES"); kept != "" {
			if err := os.WriteFile(filepath.Join(kept, name+".png"), shot, 0o644); err != nil {
				t.Error(err)
			}
		}
		t.Errorf("%s shows another page: %.1f%% of it differ, first at %v; VPPDRILL_PICTURES=DIR keeps it there, and -rewrite takes the pictures again", file, 100*share, where)
	}
}

// sourcesFile holds the hash of what a folder's pictures are of.
const sourcesFile = "sources.txt"

// Of fails if the pictures that dir keeps are not of a page's sources, by a hash beside them, or if one of them is
// missing, empty or too large: what a machine without a browser can say. With rewrite it keeps the hash; the browser's
// tests keep the pictures.
func Of(t testing.TB, rewrite bool, dir, sources string, names ...string) {
	t.Helper()
	sum := fmt.Sprintf("%x\n", sha256.Sum256([]byte(sources)))
	file := filepath.Join(dir, sourcesFile)
	if rewrite {
		if err := os.WriteFile(file, []byte(sum), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if old, err := os.ReadFile(file); err != nil || string(old) != sum {
		t.Errorf("the page has changed and the pictures in %s have not: -rewrite takes them again, with chromium (%v)", dir, err)
	}
	for _, name := range names {
		picture := filepath.Join(dir, name+".png")
		if info, err := os.Stat(picture); err != nil || info.Size() < 5_000 || info.Size() > Most {
			t.Errorf("%s: %v", picture, err)
		}
	}
}

func keep(t testing.TB, dir, file, browser string, now image.Image) {
	t.Helper()
	var out bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, fewer(now)); err != nil {
		t.Fatal(err)
	}
	if out.Len() > Most {
		t.Errorf("%s would have %d bytes, of at most %d", file, out.Len(), Most)
	}
	if err := os.WriteFile(file, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, browserFile), []byte(browser+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Differ is the share of squares in which two pictures differ, from 0 to 1, and the first of them. What only one of the
// two shows differs.
func Differ(a, b image.Image) (share float64, first image.Point) {
	all := a.Bounds().Union(b.Bounds())
	both := a.Bounds().Intersect(b.Bounds())
	differ, squares := 0, 0
	for y := all.Min.Y; y < all.Max.Y; y += square {
		for x := all.Min.X; x < all.Max.X; x += square {
			squares++
			r := image.Rect(x, y, x+square, y+square)
			if in := r.Intersect(both); !in.Empty() && (in == r.Intersect(all)) && near(mean(a, in), mean(b, in)) {
				continue
			}
			if differ++; differ == 1 {
				first = image.Pt(x, y)
			}
		}
	}
	return float64(differ) / float64(max(squares, 1)), first
}

// mean is the mean of each channel, from 0 to 255.
func mean(m image.Image, r image.Rectangle) (out [3]int) {
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			red, green, blue, _ := m.At(x, y).RGBA()
			for i, v := range [3]uint32{red, green, blue} {
				out[i] += int(v >> 8)
			}
		}
	}
	for i := range out {
		out[i] /= r.Dx() * r.Dy()
	}
	return out
}

func near(a, b [3]int) bool {
	for i := range a {
		if a[i]-b[i] > fine || b[i]-a[i] > fine {
			return false
		}
	}
	return true
}

// fewer is a picture with the most frequent colours alone, so that its file is small: a page has few, and shades at the
// edges of letters.
func fewer(m image.Image) image.Image {
	const colours = 40
	count := map[color.RGBA]int{}
	bounds := m.Bounds()
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			count[color.RGBAModel.Convert(m.At(x, y)).(color.RGBA)]++
		}
	}
	var palette color.Palette
	for range colours {
		var best color.RGBA
		for c, n := range count { // in any order: ties go to the smaller colour
			if n > count[best] || n == count[best] && less(c, best) {
				best = c
			}
		}
		if count[best] == 0 {
			break
		}
		palette = append(palette, best)
		delete(count, best)
	}
	out := image.NewPaletted(bounds, palette)
	draw.Draw(out, bounds, m, bounds.Min, draw.Src)
	return out
}

func less(a, b color.RGBA) bool {
	if a.R != b.R {
		return a.R < b.R
	}
	if a.G != b.G {
		return a.G < b.G
	}
	return a.B < b.B
}
