import Foundation
import Testing
import TickertapeTesting

@Suite("docs/dependencies.md")
struct DependencyTableTests {
    private static func text(_ path: String) throws -> String {
        try String(contentsOfFile: "\(RunningProgram.sources)/\(path)", encoding: .utf8)
    }

    /// The cells of the rows of all tables whose first heading is `heading`.
    private static func rows(_ heading: String) throws -> [[String]] {
        var rows: [[String]] = []
        var isInside = false
        for line in try Self.text("docs/dependencies.md").split(separator: "\n", omittingEmptySubsequences: false) {
            guard line.hasPrefix("|") else {
                isInside = false
                continue
            }
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            if cells.first == heading {
                isInside = true
            } else if isInside, !line.hasPrefix("|---") {
                rows.append(cells)
            }
        }
        return rows
    }

    @Test("has the packages of Package.swift with their versions, and no other")
    func packages() throws {
        let listed = try Self.rows("package").map { "\($0[0]) \($0[1])" }
        let used = try Self.text("Package.swift").matches(
            of: /\.package\(url: "https:\/\/github\.com\/([^"]+)", from: "([^"]+)"/
        ).map { "\($0.1) \($0.2)" }
        #expect(!used.isEmpty && listed.sorted() == used.sorted())
    }

    @Test("has the libraries of the system, and no other")
    func libraries() throws {
        let listed = try Self.rows("module").map { "\($0[0]) \($0[1])" }
        let used = try Self.text("Package.swift").matches(
            of: /systemLibrary\(\s*name: "([^"]+)",\s*pkgConfig: "[^"]+",\s*providers: \[\.apt\(\["([^"]+)"/
        ).map { "\($0.1) \($0.2)" }
        #expect(!used.isEmpty && listed.sorted() == used.sorted())
    }

    @Test("has a licence and a reason in each row")
    func reasons() throws {
        for row in try Self.rows("package") + Self.rows("module") {
            #expect(row.count == 4 && row[2].count > 2 && row[3].count > 8, "\(row)")
        }
    }
}
