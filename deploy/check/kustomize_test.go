package check

import (
	"strings"
	"testing"

	core "k8s.io/api/core/v1"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// built by kustomize, as `kustomize build` prints it.
func kustomized(t *testing.T, dir string) *objects {
	t.Helper()
	made, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		t.Fatal(err)
	}
	text, err := made.AsYaml()
	if err != nil {
		t.Fatal(err)
	}
	o := &objects{}
	o.read(t, dir, string(text))
	return o
}

// TestKustomize: the base and the overlay are what they say, fit together, and have
// configurations that the gateway accepts.
func TestKustomize(t *testing.T) {
	for _, name := range []string{"kubernetes", "kustomize"} {
		t.Run(name, func(t *testing.T) {
			o := kustomized(t, root+"/deploy/"+name)
			o.check(t)
			o.configured(t)
		})
	}
	o := kustomized(t, root+"/deploy/kustomize")
	template, _ := o.gatewayPod(t)
	config := only[*core.ConfigMap](t, o, "")
	if mounted := template.Spec.Volumes[0].ConfigMap.Name; mounted != config.Name || !strings.HasPrefix(mounted, "a2a-gateway-config-") {
		t.Errorf("the pod has the configuration %s, the one that was made is %s", mounted, config.Name)
	}
	for _, object := range o.all {
		if object.GetNamespace() != "a2a-gateway" {
			t.Errorf("%s is in the namespace %q", object.GetName(), object.GetNamespace())
		}
	}
	if image := template.Spec.Containers[0].Image; !strings.HasPrefix(image, "ghcr.io/") {
		t.Errorf("image %s", image)
	}
}
