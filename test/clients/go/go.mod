module drive

go 1.19

require tapline v0.1.0

replace tapline => ../../../go
