import Foundation
import Testing
import TickertapeTesting

@Suite("Links between the pages of the documentation")
struct DocumentLinkTests {
    private static func pages() throws -> [String] {
        let top = RunningProgram.sources
        let docs = try FileManager.default.subpathsOfDirectory(atPath: "\(top)/docs").map { "docs/\($0)" }
        let others = try FileManager.default.contentsOfDirectory(atPath: top) + ["Benchmarks/README.md"]
        return (docs + others).filter { $0.hasSuffix(".md") }.sorted()
    }

    /// The places of a page that can be linked to, as GitHub names them.
    private static func places(_ path: String) throws -> Set<String> {
        let text = try String(contentsOfFile: "\(RunningProgram.sources)/\(path)", encoding: .utf8)
        return Set(
            text.matches(of: /^#+ (.+)$/.anchorsMatchLineEndings()).map { heading in
                heading.1.lowercased().filter { $0.isLetter || $0.isNumber || " -_".contains($0) }
                    .replacing(" ", with: "-")
            }
        )
    }

    @Test("lead to a page or file that is there, and to a heading of it")
    func links() throws {
        let pages = try Self.pages()
        #expect(pages.count > 30)
        for page in pages {
            let text = try String(contentsOfFile: "\(RunningProgram.sources)/\(page)", encoding: .utf8)
            for link in text.matches(of: /\]\(([^)\s]+)\)/).map({ String($0.1) }) where !link.contains("://") {
                let parts = link.split(separator: "#", omittingEmptySubsequences: false).map(String.init)
                let folder = URL(fileURLWithPath: page, relativeTo: URL(fileURLWithPath: RunningProgram.sources + "/"))
                    .deletingLastPathComponent()
                let target =
                    parts[0].isEmpty
                    ? page
                    : String(
                        folder.appendingPathComponent(parts[0]).standardizedFileURL.path
                            .dropFirst(RunningProgram.sources.count + 1)
                    )
                let isThere = FileManager.default.fileExists(atPath: "\(RunningProgram.sources)/\(target)")
                #expect(isThere, "\(page) links to \(link)")
                if parts.count == 2, isThere, target.hasSuffix(".md") {
                    #expect(try Self.places(target).contains(parts[1]), "\(page) links to \(link)")
                }
            }
        }
    }
}
