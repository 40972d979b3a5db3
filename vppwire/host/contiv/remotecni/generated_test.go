package remotecni

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path"
	"testing"

	"github.com/bufbuild/protocompile"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"
)

var rewrite = flag.Bool("rewrite", false, "make the Go files of the messages and services anew")

// Goal: the Go files of messages and services are what their .proto files say. Method: they are made anew by the tools of
// go.mod, from descriptors that protocompile reads, and compared.
func TestGenerated(t *testing.T) {
	for _, file := range []string{"cni/cni.proto", "lookup/lookup.proto"} {
		compiler := protocompile.Compiler{Resolver: &protocompile.SourceResolver{ImportPaths: []string{".."}}, SourceInfoMode: protocompile.SourceInfoStandard}
		compiled, err := compiler.Compile(t.Context(), file)
		if err != nil {
			t.Fatal(err)
		}
		request, err := proto.Marshal(&pluginpb.CodeGeneratorRequest{FileToGenerate: []string{file}, Parameter: proto.String("paths=source_relative"),
			ProtoFile: []*descriptorpb.FileDescriptorProto{protodesc.ToFileDescriptorProto(compiled.FindFileByPath(file))}})
		if err != nil {
			t.Fatal(err)
		}
		for _, tool := range []string{"protoc-gen-go", "protoc-gen-go-grpc"} {
			c := exec.Command("go", "tool", tool)
			c.Stdin = bytes.NewReader(request)
			out, err := c.Output()
			var exit *exec.ExitError
			if errors.As(err, &exit) {
				t.Fatalf("%s: %v: %s", tool, err, exit.Stderr)
			}
			var made pluginpb.CodeGeneratorResponse
			if err := errors.Join(err, proto.Unmarshal(out, &made)); err != nil {
				t.Fatal(err)
			}
			if made.Error != nil {
				t.Fatalf("%s: %s", tool, made.GetError())
			}
			for _, f := range made.File {
				compare(t, path.Join("..", f.GetName()), f.GetContent())
			}
		}
	}
}

func compare(t *testing.T, file, want string) {
	t.Helper()
	if *rewrite {
		if err := os.WriteFile(file, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != want {
		t.Errorf("%s is stale: go test ./vppwire/host/contiv/remotecni -run Generated -rewrite makes it (%v)", file, err)
	}
}
