module tapline

go 1.19
