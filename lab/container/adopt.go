package container

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/distribution/reference"
	"github.com/moby/moby/client"

	"github.com/vppdrill/vppdrill/lab"
	"github.com/vppdrill/vppdrill/lab/internal/image"
	"github.com/vppdrill/vppdrill/lab/internal/nodeinit"
)

// Image is an image that labs can use, as it answered.
type Image struct {
	Name string `json:"image"`
	// ID is the engine's, Bytes the size.
	ID    string `json:"id"`
	Bytes int64  `json:"bytes"`
	// VPP is the path of its VPP; Version and Plugins are what that says of itself when labs start it.
	VPP     string   `json:"vpp"`
	Version string   `json:"version"`
	Plugins []string `json:"plugins"`
}

// CheckName says in one line what is wrong with an image's name.
func CheckName(name string) error {
	if _, err := reference.ParseNormalizedNamed(name); err != nil {
		return fmt.Errorf("%q is no name of an image: %s; one is %s", name, lastOf(err), DefaultImage)
	}
	return nil
}

// tagged is a name with its tag.
func tagged(name string) (repository, tag string, err error) {
	if err := CheckName(name); err != nil {
		return "", "", err
	}
	n, err := reference.ParseNormalizedNamed(name)
	if err != nil {
		return "", "", err
	}
	full, ok := reference.TagNameOnly(n).(reference.NamedTagged)
	if !ok {
		return "", "", fmt.Errorf("%q has a digest: only a name with a tag can be given", name)
	}
	return reference.FamiliarName(full), full.Tag(), nil
}

// Import makes an image of contents, tries its VPP, and gives it a name. After an error the name means what it did
// before.
func (b Backend) Import(ctx context.Context, name string, c *image.Contents, vppAt string) (Image, error) {
	if _, _, err := tagged(name); err != nil {
		return Image{}, err
	}
	e, err := connect(ctx)
	if err != nil {
		return Image{}, err
	}
	defer func() { _ = e.Close() }() // all is done
	read, write := io.Pipe()
	go func() { _ = write.CloseWithError(c.Write(write)) }() // an error reaches the reader
	entry, err := json.Marshal(append([]string{Program}, InitWords...))
	if err != nil {
		return Image{}, err
	}
	changes := []string{"ENTRYPOINT " + string(entry), "ENV VPPDRILL_VPP=" + strconv.Quote(vppAt),
		`ENV PATH="/usr/sbin:/usr/bin:/sbin:/bin"`, "LABEL " + labelPacked + "=" + strconv.Quote(vppAt)}
	if program := c.Files[Program]; program != "" {
		digest, err := image.Digest(program)
		if err != nil {
			return Image{}, err
		}
		changes = append(changes, "LABEL "+image.LabelProgram+"="+digest)
	}
	r, err := e.ImageImport(ctx, client.ImageImportSource{Source: read, SourceName: "-"}, "", client.ImageImportOptions{
		Message: "VPP of a machine, packed by vppdrill", Changes: changes})
	_ = read.CloseWithError(errors.New("the engine reads no more"))
	if err != nil {
		return Image{}, fmt.Errorf("import image: %w", err)
	}
	id, err := image.Imported(r)
	if err := errors.Join(err, r.Close()); err != nil {
		return Image{}, fmt.Errorf("import image: %w", err)
	}
	before, _ := e.ImageInspect(ctx, name) // there may be none
	out, err := b.adopt(ctx, e, id, name)
	if err != nil {
		_, gone := e.ImageRemove(context.WithoutCancel(ctx), id, client.ImageRemoveOptions{PruneChildren: true})
		return Image{}, errors.Join(err, gone)
	}
	if before.ID == "" || before.ID == out.ID || before.Config == nil || before.Config.Labels[labelPacked] == "" {
		return out, nil
	}
	if now, err := e.ImageInspect(ctx, before.ID); err == nil && len(now.RepoTags) == 0 {
		_, _ = e.ImageRemove(ctx, before.ID, client.ImageRemoveOptions{PruneChildren: true}) // where nobody uses it
	}
	return out, nil
}

// labelPacked marks images that Import has made: the next one of the same name replaces it.
const labelPacked = "vppdrill.vpp"

// Adopt tries an image's VPP, and gives the image that labs look for its name. One that is not here is pulled.
func (b Backend) Adopt(ctx context.Context, from, name string) (Image, error) {
	if err := CheckName(from); err != nil {
		return Image{}, err
	}
	if _, _, err := tagged(name); err != nil {
		return Image{}, err
	}
	e, err := connect(ctx)
	if err != nil {
		return Image{}, err
	}
	defer func() { _ = e.Close() }() // all is done
	if err := e.fetch(ctx, from); err != nil {
		return Image{}, err
	}
	return b.adopt(ctx, e, from, name)
}

// Pull makes sure that the image of nodes is here.
func (b Backend) Pull(ctx context.Context) error {
	e, err := connect(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = e.Close() }() // all is done
	return e.fetch(ctx, b.image())
}

// fetch pulls an image that is not here.
func (e engine) fetch(ctx context.Context, name string) error {
	if there, err := e.has(ctx, name); err != nil || there {
		return err
	}
	r, err := e.ImagePull(ctx, name, client.ImagePullOptions{})
	if err == nil {
		err = errors.Join(r.Wait(ctx), r.Close())
	}
	if err != nil {
		return lab.Cannot("image %s is not here and cannot be pulled: %s", name, lastOf(err))
	}
	return nil
}

// adopt tries an image and names it.
func (b Backend) adopt(ctx context.Context, e engine, from, name string) (Image, error) {
	out, err := b.try(ctx, e, from)
	if err != nil {
		return out, err
	}
	repository, tag, err := tagged(name)
	if err != nil {
		return out, err
	}
	out.Name = repository + ":" + tag
	if _, err := e.ImageTag(ctx, client.ImageTagOptions{Source: from, Target: out.Name}); err != nil {
		return out, fmt.Errorf("name image %s: %w", out.Name, err)
	}
	seen, err := e.ImageInspect(ctx, out.Name)
	if err != nil {
		return out, fmt.Errorf("look at image %s: %w", out.Name, err)
	}
	out.ID, out.Bytes = seen.ID, seen.Size
	return out, nil
}

// try starts a container of an image and in it a VPP as labs do, which says what it is.
func (b Backend) try(ctx context.Context, e engine, from string) (out Image, err error) {
	dir, err := os.MkdirTemp("", "vppdrill-image-")
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	init, err := b.init()
	if err != nil {
		return out, err
	}
	id := "try" + strconv.FormatInt(int64(os.Getpid()), 36)
	box, err := newBox(ctx, e, boxSpec{image: from, name: boxName(id, "try"), hostname: "try", dir: dir, init: init, labels: labels(id, dir, "try")})
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, box.remove(context.WithoutCancel(ctx))) }()
	if _, err := box.start(ctx); err != nil {
		return out, lab.Cannot("image %s cannot be a node: %s", from, err)
	}
	a, err := nodeinit.Send(ctx, box.spec.socket(), nodeinit.Order{Examine: true})
	if err != nil {
		return out, err
	}
	return Image{VPP: a.Binary, Version: a.Version, Plugins: a.Plugins}, nil
}
