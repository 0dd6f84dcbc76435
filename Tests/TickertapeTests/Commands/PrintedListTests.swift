import Testing
@testable import Tickertape

@Suite("A list that a command prints")
struct PrintedListTests {
    @Test("keeps an address whole, in every format, and puts into quotes what needs them")
    func whole() {
        let address = "https://example.com/" + String(repeating: "a", count: 2_000)
        var list = PrintedList(columns: ["headline", "url"])
        list.rows = [[.text("one, \"two\""), .text(address)]]
        #expect(list.lines(.plain) == ["one, \"two\"  \(address)"])
        #expect(list.lines(.json) == [#"{"headline":"one, \"two\"","url":"\#(address)"}"#])
        #expect(list.lines(.csv) == ["headline,url", "\"one, \"\"two\"\"\",\(address)"])
    }

    @Test("removes terminal sequences, and bounds a text that other columns follow")
    func foreign() {
        var list = PrintedList(columns: ["headline", "n"])
        list.rows = [[.text(String(repeating: "b", count: 3_000) + "\u{1B}[2J"), .number(-7)]]
        let plain = list.lines(.plain)[0]
        #expect(plain.count < 600 && plain.hasSuffix("…  -7"))
        for format in ListFormat.allCases { #expect(!list.lines(format).joined().contains("\u{1B}")) }
        #expect(list.lines(.csv)[1].hasSuffix("␛[2J,-7"))
    }
}
