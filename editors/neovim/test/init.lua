vim.cmd("filetype plugin on")
require("mayfly").setup({ cmd = { vim.env.MAYFLY, "lsp" } })
