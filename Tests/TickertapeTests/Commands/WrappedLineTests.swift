import Testing
@testable import Tickertape

@Suite("A line for a terminal")
struct WrappedLineTests {
    private static let text = "ok      dns          one two three four five six seven eight nine"

    @Test("is one line where it fits, and where there is no terminal")
    func whole() {
        #expect(WrappedLine.lines(Self.text, columns: nil, indent: 21) == [Self.text])
        #expect(WrappedLine.lines(Self.text, columns: Self.text.count, indent: 21) == [Self.text])
        #expect(WrappedLine.lines("", columns: 10, indent: 2) == [""])
    }

    @Test("is put into lines at its blanks, the further ones below its words")
    func wide() {
        #expect(
            WrappedLine.lines(Self.text, columns: 63, indent: 21) == [
                "ok      dns          one two three four five six seven eight", "                     nine",
            ]
        )
    }

    @Test("keeps within each width, loses no word, and keeps its head", arguments: 1...70)
    func narrow(columns: Int) {
        let lines = WrappedLine.lines(Self.text, columns: columns, indent: 21)
        #expect(lines.joined(separator: " ").split(separator: " ") == Self.text.split(separator: " "), "\(lines)")
        for line in lines where line.split(separator: " ").count > 1 { #expect(line.count <= columns, "\(lines)") }
        #expect(lines[0].hasPrefix("ok"))
        if columns >= 24 { #expect(lines[0].hasPrefix("ok      dns          one"), "\(lines)") }
    }

    @Test("keeps a word that is longer than the terminal is wide")
    func longWord() {
        let path = "/var/lib/tickertape/recordings/of/the/year"
        #expect(
            WrappedLine.lines("disk: in \(path) and more", columns: 20, indent: 2) == [
                "disk: in", "  \(path)", "  and more",
            ]
        )
    }
}
