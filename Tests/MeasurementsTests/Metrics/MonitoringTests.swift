import Foundation
import NIOCore
import Testing
import TickertapeTesting
@testable import Measurements

@Suite("docs/monitoring")
struct MonitoringTests {
    private func text(_ path: String) throws -> String {
        try String(contentsOfFile: "\(RunningProgram.sources)/\(path)", encoding: .utf8)
    }

    /// The metrics that a text names, without the endings of a histogram's series.
    private func names(in text: String, prefix: String = "(?:tickertape|process)") -> Set<String> {
        let pattern = try! NSRegularExpression(pattern: "(?<![a-z_])\(prefix)_[a-z_]+[a-z]\\b")
        let matches = pattern.matches(in: text, range: NSRange(text.startIndex..., in: text))
        return Set(matches.compactMap { Range($0.range, in: text).map { String(text[$0]) } })
    }

    /// The families that the program can write, as its sources name them, and those of the process.
    private func families() throws -> Set<String> {
        var families: Set<String> = []
        let sources = "\(RunningProgram.sources)/Sources"
        let files = try #require(FileManager.default.enumerator(atPath: sources))
        for case let file as String in files where file.hasSuffix(".swift") {
            let source = try String(contentsOfFile: "\(sources)/\(file)", encoding: .utf8)
            for name in self.names(in: source, prefix: "\"tickertape") {
                let quoted = "\(name)\""
                // A name that is only the beginning of a text is no metric.
                if source.contains(quoted) { families.insert(String(name.dropFirst())) }
            }
        }
        var process = PrometheusText()
        ProcessFigures.read().write(to: &process)
        return families.union(self.names(in: String(buffer: process.buffer)))
    }

    @Test("the rules and the dashboard name only metrics that the program has")
    func known() throws {
        let families = try self.families()
        #expect(families.count > 40 && families.contains("process_open_fds"))
        for path in ["docs/monitoring/rules.yaml", "docs/monitoring/dashboard.json", "docs/monitoring/rules-test.yaml"]
        {
            let named = self.names(in: try self.text(path))
            #expect(named.count > 10, "\(path)")
            for name in named.sorted() {
                let family = name.replacing(/_(bucket|sum|count)$/, with: "")
                #expect(families.contains(name) || families.contains(family), "\(path): \(name)")
            }
        }
    }

    @Test("each metric of the program is in docs/http.md, and the other way round")
    func documented() throws {
        let families = try self.families().filter { !$0.hasPrefix("process_") }
        let documented = self.names(in: try self.text("docs/http.md"), prefix: "tickertape")
        #expect(families.subtracting(documented).sorted() == [])
        #expect(documented.subtracting(families).sorted() == [])
    }

    @Test("each alert has a severity, a summary, a page that exists, a test, and a line in the manual")
    func alerts() throws {
        let rules = try self.text("docs/monitoring/rules.yaml")
        let tests = try self.text("docs/monitoring/rules-test.yaml")
        let manual = try self.text("docs/monitoring/README.md")
        let parts = rules.components(separatedBy: "- alert: ").dropFirst()
        #expect(parts.count > 15)
        for part in parts {
            let name = String(part.prefix { $0 != "\n" })
            #expect(part.contains(/severity: (critical|warning)/) && part.contains("summary: \""), "\(name)")
            let page = part.firstMatch(of: /docs: (\S+)/).map { String($0.1) } ?? ""
            #expect(FileManager.default.fileExists(atPath: "\(RunningProgram.sources)/\(page)"), "\(name): \(page)")
            #expect(tests.contains("name: \(name)\n") && manual.contains("`\(name)`"), "\(name)")
        }
    }

    @Test("the dashboard is JSON whose panels have queries that its variables select")
    func dashboard() throws {
        let json = try JSONSerialization.jsonObject(with: Data(self.text("docs/monitoring/dashboard.json").utf8))
        let dashboard = try #require(json as? [String: Any])
        let panels = try #require(dashboard["panels"] as? [[String: Any]])
        let queries = panels.flatMap { $0["targets"] as? [[String: Any]] ?? [] }.compactMap { $0["expr"] as? String }
        #expect(queries.count > 25)
        for query in queries { #expect(query.contains("job=~\"$job\"") && query.contains("instance=~\"$instance\"")) }
    }
}
