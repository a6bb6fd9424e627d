module capstan.dev/tools/cni

go 1.24.0
