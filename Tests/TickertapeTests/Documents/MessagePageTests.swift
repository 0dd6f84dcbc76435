import Foundation
import Testing
import TickertapeTesting

/// `docs/messages.md` against the texts in the sources.
@Suite("The page of messages")
struct MessagePageTests {
    /// The fixed parts of each message of the page.
    private static func documented() throws -> [[String]] {
        let page = try String(contentsOfFile: "\(RunningProgram.sources)/docs/messages.md", encoding: .utf8)
        return page.split(separator: "\n").filter { $0.hasPrefix("| `") }.compactMap { line in
            line.split(separator: "`").dropFirst().first.map {
                $0.split(separator: "…").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
            }
        }
    }

    /// The texts of the sources with blanks for what is put into them; the parts of one that is put together with `+` are
    /// one text.
    private static func texts() throws -> [String] {
        let folder = "\(RunningProgram.sources)/Sources"
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder).filter { $0.hasSuffix(".swift") }
        return try files.flatMap { file in
            try String(contentsOfFile: "\(folder)/\(file)", encoding: .utf8)
                .replacing(/^\s*\/\/.*$/.anchorsMatchLineEndings(), with: "")
                .replacing(/"\s*\+\s*"/, with: "")
                .matches(of: /"((?:[^"\\\n]|\\.)*)"/)
                .map { String($0.1).replacing(/\\\([^)]*\)+/, with: " … ") }
        }
    }

    @Test("has the program's own words")
    func words() throws {
        let all = try Self.texts().joined(separator: "\n")
        for part in try Self.documented().flatMap(\.self) {
            #expect(all.contains(part), "no text of the program has these words: \(part)")
        }
    }

    @Test("has each message that asks for an action")
    func actions() throws {
        let asks =
            /: check |; check |\(check |is the network up|chmod |install |set FINNHUB_TOKEN|: is (it|a|the|this) [a-z ]+\?/
        let documented = try Self.documented()
        let messages = try Self.texts().filter { $0.contains(asks) }
        #expect(messages.count > 30)
        for message in messages {
            let isThere = documented.contains { parts in parts.allSatisfy(message.contains) }
            #expect(isThere, "docs/messages.md has no row for: \(message)")
        }
    }
}
