output o { value = -a / 4 . 3 . 2 }
x = 4 . 3
y = a.4 . 3
z = a.35 . E2
w = 35 . e-2
