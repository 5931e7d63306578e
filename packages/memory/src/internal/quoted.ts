/** Text between tags, from which it cannot get out: tags of the same name in it are taken apart. */
export const quoted = (tag: string, text: string): string =>
  `<${tag}>\n${text.replace(new RegExp(`<(?=\\s*/?\\s*${tag})`, "gi"), "&lt;")}\n</${tag}>`
