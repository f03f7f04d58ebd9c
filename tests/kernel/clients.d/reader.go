// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause

// A program in Go that reads BTF with cilium/ebpf.
//
//	reader types [BTF]: the number of types of each kind, and a digest of all types
//	reader load OBJECT [BTF]: loads the programs of a BPF object, relocated against BTF, and attaches those
//	that attach to a function
//
// BTF is a file (default: that of the running kernel).
package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"sort"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"
	"github.com/cilium/ebpf/link"
)

func open(arguments []string) (*btf.Spec, error) {
	if len(arguments) > 0 {
		return btf.LoadSpec(arguments[0])
	}
	return btf.LoadKernelSpec()
}

// named describes a type that another one refers to, without ids, which differ between BTFs.
func named(used btf.Type) string {
	if used == nil {
		return "nothing"
	}
	return fmt.Sprintf("%T %s", used, used.TypeName())
}

func members(list []btf.Member) (text string) {
	for _, member := range list {
		text += fmt.Sprintf("; %s %d %d %s", member.Name, member.Offset, member.BitfieldSize, named(member.Type))
	}
	return text
}

// declaration describes a type in one line.
func declaration(declared btf.Type) string {
	text := named(declared)
	switch declared := declared.(type) {
	case *btf.Int:
		text += fmt.Sprint(" ", declared.Size, declared.Encoding)
	case *btf.Struct:
		text += fmt.Sprint(" ", declared.Size) + members(declared.Members)
	case *btf.Union:
		text += fmt.Sprint(" ", declared.Size) + members(declared.Members)
	case *btf.Enum:
		text += fmt.Sprint(" ", declared.Size, declared.Values)
	case *btf.Array:
		text += fmt.Sprint(" ", declared.Nelems) + " of " + named(declared.Type)
	case *btf.FuncProto:
		for _, parameter := range declared.Params {
			text += fmt.Sprintf("; %s %s", parameter.Name, named(parameter.Type))
		}
		text += " returns " + named(declared.Return)
	case *btf.Func:
		text += fmt.Sprint(" ", declared.Linkage, " ", declaration(declared.Type))
	case *btf.Var:
		text += fmt.Sprint(" ", declared.Linkage, " ", named(declared.Type))
	case *btf.Datasec:
		text += fmt.Sprint(" ", declared.Size)
		for _, variable := range declared.Vars {
			text += fmt.Sprintf("; %s %d %d", named(variable.Type), variable.Offset, variable.Size)
		}
	case *btf.Typedef:
		text += " of " + named(declared.Type)
	case *btf.Pointer:
		text += " to " + named(declared.Target)
	case *btf.Const:
		text += " of " + named(declared.Type)
	case *btf.Volatile:
		text += " of " + named(declared.Type)
	case *btf.Restrict:
		text += " of " + named(declared.Type)
	}
	return text
}

func types(spec *btf.Spec) error {
	counts := map[string]int{}
	var lines []string
	for id := btf.TypeID(1); ; id++ {
		found, err := spec.TypeByID(id)
		if errors.Is(err, btf.ErrNotFound) {
			break
		}
		if err != nil {
			return err
		}
		counts[fmt.Sprintf("%T", found)]++
		lines = append(lines, declaration(found))
	}
	sort.Strings(lines)
	digest := sha256.New()
	for _, line := range lines {
		fmt.Fprintln(digest, line)
	}
	kinds := make([]string, 0, len(counts))
	for kind := range counts {
		kinds = append(kinds, kind)
	}
	sort.Strings(kinds)
	for _, kind := range kinds {
		fmt.Println(kind, counts[kind])
	}
	fmt.Printf("%d types: %x\n", len(lines), digest.Sum(nil)[:6])
	return nil
}

func load(object string, spec *btf.Spec) error {
	programs, err := ebpf.LoadCollectionSpec(object)
	if err != nil {
		return err
	}
	loaded, err := ebpf.NewCollectionWithOptions(programs, ebpf.CollectionOptions{
		Programs: ebpf.ProgramOptions{KernelTypes: spec}})
	if err != nil {
		return err
	}
	defer loaded.Close()
	if len(loaded.Programs) == 0 {
		return errors.New(object + ": has no program whose section this version of cilium/ebpf knows")
	}
	for name, program := range loaded.Programs {
		state := "loaded"
		if program.Type() == ebpf.Tracing {
			attached, err := link.AttachTracing(link.TracingOptions{Program: program})
			if err != nil {
				return err
			}
			state = "attached"
			attached.Close()
		}
		fmt.Println(name, state)
	}
	return nil
}

func run(arguments []string) error {
	if len(arguments) > 1 && arguments[0] == "load" {
		spec, err := open(arguments[2:])
		if err != nil {
			return err
		}
		return load(arguments[1], spec)
	}
	if len(arguments) > 0 && arguments[0] == "types" {
		spec, err := open(arguments[1:])
		if err != nil {
			return err
		}
		return types(spec)
	}
	return errors.New("wrong usage")
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "reader:", err)
		os.Exit(1)
	}
}
