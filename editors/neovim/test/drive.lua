-- Runs inside Neovim, in a copy of examples/secrets/store with main.tf open.

local uv = vim.uv or vim.loop
local seconds = 60
local deadline = uv.now() + seconds * 1000
local buffer = vim.api.nvim_get_current_buf()

local function say(text)
  io.stderr:write(text .. "\n")
end

local function shown(diagnostics)
  if #diagnostics == 0 then
    return "none"
  end
  return table.concat(vim.tbl_map(function(it)
    return ("%d:%d %s"):format(it.lnum + 1, it.col + 1, it.message)
  end, diagnostics), "\n  ")
end

local function fail(text)
  say("FAIL: " .. text)
  say("diagnostics: " .. shown(vim.diagnostic.get(buffer)))
  vim.cmd("cquit 1")
end

local function wait_for(what, condition)
  uv.update_time()
  local left = deadline - uv.now()
  if left <= 0 or not vim.wait(left, condition, 20) then
    fail(("%s did not happen within %d s"):format(what, seconds))
  end
  say("ok: " .. what)
end

local function clients()
  local get = vim.lsp.get_clients or function(filter)
    return vim.tbl_values(vim.lsp.buf_get_clients(filter.bufnr))
  end
  return get({ bufnr = buffer })
end

local function type_keys(keys)
  local codes = vim.api.nvim_replace_termcodes(keys, true, false, true)
  vim.api.nvim_feedkeys(codes, "tx", false)
end

local function text_of(diagnostic)
  local lines = vim.api.nvim_buf_get_text(
    buffer,
    diagnostic.lnum,
    diagnostic.col,
    diagnostic.end_lnum,
    diagnostic.end_col,
    {}
  )
  return table.concat(lines, "\n")
end

local function errors()
  return vim.diagnostic.get(buffer, { severity = vim.diagnostic.severity.ERROR })
end

-- The error of the RFC at exactly these characters of the buffer, with where the value comes from.
local function has_error(summary, text, origin)
  return #vim.tbl_filter(function(it)
    local tells_origin = it.message:find(origin, 1, true) ~= nil
    return it.message:find(summary, 1, true) == 1 and text_of(it) == text and tells_origin
  end, errors()) == 1
end

-- Types lines at the end of the file, waits for the error, undoes them and waits until it is gone.
local function misuse(lines, summary, text, origin)
  local before = vim.api.nvim_buf_get_lines(buffer, 0, -1, true)
  type_keys("Go" .. table.concat(lines, "<CR>") .. "<Esc>")
  wait_for(("%q at %q"):format(summary, text), function()
    return has_error(summary, text, origin)
  end)
  if #errors() ~= 1 then
    fail("one mistake has one error")
  end
  type_keys("u")
  if not vim.deep_equal(before, vim.api.nvim_buf_get_lines(buffer, 0, -1, true)) then
    fail("undo did not restore the file")
  end
  wait_for("undone, the error is gone", function()
    return #errors() == 0
  end)
end

local function run()
  if vim.bo.filetype ~= "terraform" then
    fail("main.tf has the filetype " .. vim.bo.filetype)
  end
  wait_for("the server is initialized", function()
    local client = clients()[1]
    return client ~= nil and client.initialized == true
  end)
  misuse(
    { "", 'resource "terraform_data" "kept" {', "input = module.secret_management.secrets", "}" },
    "Invalid use of an ephemeral value",
    "module.secret_management.secrets",
    "\n- "
  )
  misuse(
    { "", 'variable "secret" {', "ephemeral = true", "}", 'output "shown" {', "value = var.secret", "}" },
    "Output not marked as ephemeral",
    "var.secret",
    '\n- variable "secret" is declared ephemeral (line '
  )
end

local passed, problem = pcall(run)
if not passed then
  fail(tostring(problem))
end
-- Neovim ends the server on leaving; one that does not end is found by the limit of run.sh.
say("PASS")
vim.cmd("qall!")
