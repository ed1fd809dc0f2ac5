-- The language server `mayfly lsp`, for Neovim from 0.7 on.
--
--   require("mayfly").setup({ cmd = { "/opt/mayfly", "lsp" }, settings = { codeLens = { references = false } } })

local M = {}

local uv = vim.uv or vim.loop

local defaults = {
  cmd = { "mayfly", "lsp" },
  filetypes = { "opentofu", "opentofu-vars", "terraform", "terraform-vars" },
  -- The first that any parent folder has, or else the file's own folder.
  root_markers = { ".git", ".terraform", ".terraform.lock.hcl" },
  settings = {
    inlayHints = { marks = true, types = true, unknown = true },
    codeLens = { references = true },
  },
}

--- What the server said last of itself, for a status line; "" is well. The second is all of it, in sentences.
--- @return string, string
function M.status()
  return M._status or "", M._status_detail or ""
end

--- @param options table|nil replaces parts of the defaults; `on_attach` and `capabilities` are those of `vim.lsp`
function M.setup(options)
  local config = vim.tbl_deep_extend("force", defaults, options or {})
  if vim.lsp.config and vim.lsp.enable then
    local client = M._client_config(config)
    client.filetypes = config.filetypes
    client.root_dir = function(buffer, on_dir)
      on_dir(M._root(vim.api.nvim_buf_get_name(buffer), config.root_markers))
    end
    vim.lsp.config("mayfly", client)
    vim.lsp.enable("mayfly")
  else
    M._attach_on_filetype(config)
  end
  vim.lsp.commands["mayfly.showReferences"] = M._show_references
end

function M._client_config(config)
  local capabilities = config.capabilities or vim.lsp.protocol.make_client_capabilities()
  if not config.capabilities then
    -- Neovim says that it takes related places, and shows them nowhere; without the word they are part of the message.
    capabilities.textDocument.publishDiagnostics.relatedInformation = false
  end
  capabilities.experimental = vim.tbl_extend("force", capabilities.experimental or {}, {
    showReferencesCommandId = "mayfly.showReferences",
    statusNotification = true,
  })
  return {
    name = "mayfly",
    cmd = config.cmd,
    capabilities = capabilities,
    init_options = config.settings,
    -- By section, as the server asks for it.
    settings = { mayfly = config.settings },
    handlers = { ["mayfly/status"] = M._on_status },
    on_attach = function(client, buffer)
      if vim.lsp.inlay_hint and client.server_capabilities.inlayHintProvider then
        vim.lsp.inlay_hint.enable(true, { bufnr = buffer })
      end
      if config.on_attach then
        config.on_attach(client, buffer)
      end
    end,
  }
end

-- Before Neovim 0.11.
function M._attach_on_filetype(config)
  local group = vim.api.nvim_create_augroup("mayfly", { clear = true })
  vim.api.nvim_create_autocmd("FileType", {
    group = group,
    pattern = config.filetypes,
    callback = function(event)
      local name = vim.api.nvim_buf_get_name(event.buf)
      if name ~= "" and vim.bo[event.buf].buftype == "" then
        local client = M._client_config(config)
        client.root_dir = M._root(name, config.root_markers)
        M._start(client, event.buf)
      end
    end,
  })
end

-- One client for each root: what `vim.lsp.start` does from 0.8 on.
function M._start(config, buffer)
  if vim.fn.executable(config.cmd[1]) ~= 1 then
    vim.notify_once("Mayfly: there is no executable " .. config.cmd[1], vim.log.levels.ERROR)
    return
  end
  if vim.lsp.start then
    vim.lsp.start(config, { bufnr = buffer })
    return
  end
  M._clients = M._clients or {}
  local id = M._clients[config.root_dir]
  if not id or not vim.lsp.get_client_by_id(id) then
    config.workspace_folders =
      { { uri = vim.uri_from_fname(config.root_dir), name = config.root_dir } }
    id = vim.lsp.start_client(config)
    M._clients[config.root_dir] = id
  end
  if id then
    vim.lsp.buf_attach_client(buffer, id)
  end
end

function M._root(name, markers)
  local folder = vim.fn.fnamemodify(name, ":p:h")
  for _, marker in ipairs(markers) do
    local parent = folder
    while true do
      if uv.fs_stat(parent .. "/" .. marker) then
        return parent
      end
      local above = vim.fn.fnamemodify(parent, ":h")
      if above == parent then
        break
      end
      parent = above
    end
  end
  return folder
end

function M._on_status(_, status)
  local is_new = status.message ~= (M.status())
  M._status = status.message
  M._status_detail = status.detail
  local levels = { warning = vim.log.levels.WARN, error = vim.log.levels.ERROR }
  local level = levels[status.severity]
  if is_new and level and status.message ~= "" then
    vim.notify("Mayfly: " .. status.message, level)
  end
end

-- For code lenses: the arguments are a URI, a position and locations.
function M._show_references(command, context)
  local client = vim.lsp.get_client_by_id(context.client_id)
  local encoding = client and client.offset_encoding or "utf-16"
  local items = vim.lsp.util.locations_to_items(command.arguments[3] or {}, encoding)
  vim.fn.setqflist({}, " ", { title = command.title or "References", items = items })
  vim.cmd("botright copen")
end

return M
