module capstan.dev/tools/kubernetes/pause

go 1.24.0
