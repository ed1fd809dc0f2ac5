vim.bo.commentstring = "# %s"
vim.bo.comments = "s1:/*,mb:*,ex:*/,://,:#"
vim.bo.expandtab = true
vim.bo.shiftwidth = 2
vim.bo.iskeyword = vim.bo.iskeyword .. ",-"
vim.b.undo_ftplugin = "setlocal commentstring< comments< expandtab< shiftwidth< iskeyword<"
