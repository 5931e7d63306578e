/** A PDF with the lines of its pages, as small as one can be. */
export const pdf = (...pages: ReadonlyArray<ReadonlyArray<string>>): Uint8Array => {
  const stream = (lines: ReadonlyArray<string>) =>
    `BT /F1 12 Tf 72 720 Td ${lines.map((line) => `(${line}) Tj 0 -14 Td`).join(" ")} ET`
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    `<< /Type /Pages /Kids [${pages.map((_, n) => `${5 + 2 * n} 0 R`).join(" ")}] /Count ${pages.length} >>`,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    "<< /Title (On looms) >>",
    ...pages.flatMap((lines, n) => [
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> /Contents ${6 + 2 * n} 0 R >>`,
      `<< /Length ${stream(lines).length} >>\nstream\n${stream(lines)}\nendstream`
    ])
  ]
  let text = "%PDF-1.4\n"
  const places = objects.map((object, n) => {
    const place = text.length
    text += `${n + 1} 0 obj\n${object}\nendobj\n`
    return `${String(place).padStart(10, "0")} 00000 n \n`
  })
  const size = objects.length + 1
  const end = `xref\n0 ${size}\n0000000000 65535 f \n${places.join("")}trailer << /Size ${size} /Root 1 0 R /Info 4 0 R >>\n`
  return new TextEncoder().encode(`${text}${end}startxref\n${text.length}\n%%EOF`)
}
