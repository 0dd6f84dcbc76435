import Foundation
import Testing
import TickertapeTesting

/// A REST service whose answers are files, without a check of the key.
struct FileService {
    let program: RunningProgram
    /// The value of `service.url`.
    let url: String

    /// - Parameter files: the answers by path below the base address, such as `crypto/symbol`.
    init(in folder: TemporaryFolder, _ files: [String: String]) async throws {
        for (path, text) in files {
            let file = URL(fileURLWithPath: "\(folder.path)/api/v1/\(path)")
            let place = file.deletingLastPathComponent()
            try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
            try Data(text.utf8).write(to: file)
        }
        let program = try RunningProgram(
            "/usr/bin/python3",
            ["-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "--directory", folder.path]
        )
        #expect(await program.prints("Serving HTTP"), "\(program.errors)")
        let port = try #require(RunningProgram.number(in: program.output, behind: "port "))
        self.program = program
        self.url = "http://127.0.0.1:\(port)/api/v1"
    }

    /// Returns the number of requests whose line contains a text.
    func requests(of text: String) -> Int {
        self.program.errors.split(separator: "\n").filter { $0.contains(text) }.count
    }

    /// Three headlines of two publishers, two exchanges, and two symbols of any exchange.
    static let samples: [String: String] = [
        "news": """
        [{"id":1,"datetime":1700000000,"headline":"Bitcoin rises","source":"Reuters","summary":"Funds buy",
        "url":"https://a.example/1"},
        {"id":2,"datetime":1700000100,"headline":"Ether falls","source":"CNBC","summary":"",
        "url":"javascript:alert(1)"},
        {"id":3,"datetime":1700000200,"headline":"<b>Funds</b> wait","source":"Reuters","summary":"",
        "url":"http://a.example/3"}]
        """,
        "crypto/exchange": #"["Kraken","BINANCE"]"#,
        "crypto/symbol": """
        [{"symbol":"BTCUSDT","displaySymbol":"BTC/USDT","description":"Bitcoin"},{"symbol":"ETHUSDT"}]
        """,
    ]
}
