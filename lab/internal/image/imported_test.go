package image

import (
	"strings"
	"testing"
)

// Goal: an import's answer is its image, or why there is none. Method: the engine's progress as it sends it.
func TestImported(t *testing.T) {
	for _, test := range []struct{ text, id, err string }{
		{`{"status":"sha256:12ab"}`, "sha256:12ab", ""},
		{"{\"status\":\"Importing\"}\n{\"status\":\"sha256:12ab\"}\n", "sha256:12ab", ""},
		{`{"status":"x"}{"errorDetail":{"message":"no space left"},"error":"no space left"}`, "", "no space left"},
		{`{"status":"Importing"}`, "", "named no image"},
		{``, "", "named no image"},
		{`{"status":`, "", "unexpected EOF"},
	} {
		id, err := Imported(strings.NewReader(test.text))
		if id != test.id || (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("%s: %q, %v", test.text, id, err)
		}
	}
}

// Goal: whatever an engine sends is an image or an error.
func FuzzImported(f *testing.F) {
	f.Add(`{"status":"sha256:12ab"}`)
	f.Add(`{"error":"x"}`)
	f.Fuzz(func(t *testing.T, text string) {
		if id, err := Imported(strings.NewReader(text)); err == nil && !strings.HasPrefix(id, "sha256:") {
			t.Errorf("%q: image %q", text, id)
		}
	})
}
