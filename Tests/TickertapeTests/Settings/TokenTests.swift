import Testing

@testable import Tickertape

@Suite("The key")
struct TokenTests {
    private let folder = ScratchFolder()

    private func load(
        _ yaml: String = "",
        mode: UInt32 = 0o600,
        token: String? = nil,
        file: String? = nil
    ) throws -> LoadedSettings {
        var flags = GivenFlags()
        flags.configFile = self.folder.file("config.yaml", yaml, mode: mode)
        if let file { flags.add(.tokenFile, [file], flag: "--token-file") }
        return try Settings.load(flags: flags, environment: token.map { ["FINNHUB_TOKEN": $0] } ?? [:])
    }

    private func failure(_ body: () throws -> LoadedSettings) -> OperatorError {
        do {
            _ = try body()
            return OperatorError("nothing was thrown", status: .success)
        } catch {
            return error as? OperatorError ?? OperatorError("\(error)", status: .failure)
        }
    }

    @Test(
        "it comes from the variable, from a file, or from the config, the higher layer winning over both ways of a lower"
    )
    func sources() throws {
        let keyFile = self.folder.file("key", "from-file\n")
        #expect(try self.load().settings.token == nil)

        let direct = try self.load("token: from-config").settings
        #expect(direct.token?.reveal() == "from-config")

        let file = try self.load("token-file: \(keyFile)").settings
        #expect(file.token?.reveal() == "from-file")
        #expect(file.origin(of: "token") == .file(keyFile))

        let variable = try self.load("token-file: \(keyFile)", token: "from-variable").settings
        #expect(variable.token?.reveal() == "from-variable")
        #expect(variable.origin(of: "token") == .environment("FINNHUB_TOKEN"))

        let flag = try self.load("token: from-config", token: "from-variable", file: keyFile).settings
        #expect(flag.token?.reveal() == "from-file")

        let none = try self.load(token: "from-variable", file: "none").settings
        #expect(none.token == nil)
    }

    @Test("the manual's two empty lines, one of them filled in, are no contradiction")
    func oneOfTwo() throws {
        #expect(try self.load("token: abc\ntoken-file: none").settings.token?.reveal() == "abc")
        let keyFile = self.folder.file("key", "xyz")
        #expect(try self.load("token: none\ntoken-file: \(keyFile)").settings.token?.reveal() == "xyz")
    }

    @Test("both ways in one layer are a contradiction")
    func both() {
        let error = self.failure { try self.load("token: abc\ntoken-file: /x") }
        #expect(error.message.contains("both given") && !error.message.contains("abc"))
    }

    @Test("a file with the key that others can read is warned about, without the key")
    func openFile() throws {
        let closed = try self.load("token: c0ffee", mode: 0o640)
        #expect(closed.warnings.isEmpty)
        let open = try self.load("token: c0ffee", mode: 0o644)
        #expect(open.warnings.count == 1)
        #expect(!open.warnings[0].contains("c0ffee"))
        #expect(try self.load("", mode: 0o644).warnings.isEmpty)

        let keyFile = self.folder.file("key", "c0ffee", mode: 0o644)
        #expect(try self.load(file: keyFile).warnings.count == 1)
    }

    @Test("a key that could not stand in a request is refused without repeating it")
    func badKeys() {
        for text in ["c0ffee c0ffee", "c0ffee\u{1}", "c0fféé", String(repeating: "c0ffee", count: 100)] {
            let variable = self.failure { try self.load(token: text) }
            #expect(variable.status == .configuration)
            #expect(!variable.message.contains("c0f"), "\(variable.message)")

            let keyFile = self.folder.file("key", text)
            let file = self.failure { try self.load(file: keyFile) }
            #expect(file.status == .usage)
            #expect(!file.message.contains("c0f"))
        }
    }

    @Test("no mistake elsewhere in a config with a key shows the key")
    func mistakesAround() {
        for yaml in [
            "token: c0ffee\n\trelay: 1", "token: [c0ffee", "token: 'c0ffee", "token: c0ffee: x",
            "token: c0ffee\ntoken: c0ffee",
            "token: [c0ffee, c0ffee]", "token: {c0ffee: 1", "token: \"c0ffee\\q\"", "tokn: c0ffee",
        ] {
            let error = self.failure { try self.load(yaml) }
            #expect(error.status == .configuration, "\(yaml)")
            #expect(!error.message.contains("c0ffee"), "\(error.message)")
        }
    }

    @Test("a file that is missing, empty, a folder or too large is refused by name")
    func badFiles() {
        #expect(
            self.failure { try self.load(file: "\(self.folder.path)/nowhere") }.message.contains(
                "nowhere does not exist"
            )
        )
        #expect(self.failure { try self.load(file: self.folder.path) }.message.contains("is a folder"))
        let empty = self.folder.file("empty", "\n")
        #expect(self.failure { try self.load(file: empty) }.message.contains("must hold the key and nothing else"))
        let large = self.folder.file("large", String(repeating: "x", count: 5_000))
        #expect(self.failure { try self.load(file: large) }.message.contains("is larger than 4096 bytes"))
    }
}
