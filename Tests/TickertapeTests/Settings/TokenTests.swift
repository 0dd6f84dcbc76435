import TLS
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

    @Test("the manual's two empty lines are no contradiction when one is filled in")
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
        let closed = try self.load("token: c0ffee", mode: 0o600)
        #expect(closed.warnings.isEmpty)
        for mode: UInt32 in [0o640, 0o604, 0o644] {
            let open = try self.load("token: c0ffee", mode: mode)
            #expect(open.warnings.count == 1)
            #expect(open.warnings.allSatisfy { $0.hasSuffix("run chmod 600 \(self.folder.path)/config.yaml") })
            #expect(!open.warnings.joined().contains("c0ffee"))
        }
        #expect(try self.load("token: c0ffee", mode: 0o644, token: "from-variable").warnings.isEmpty)
        #expect(try self.load("", mode: 0o644).warnings.isEmpty)

        let keyFile = self.folder.file("key", "c0ffee", mode: 0o644)
        #expect(
            try self.load(file: keyFile).warnings == [
                "\(keyFile) holds the API key and others can read it; run chmod 600 \(keyFile)"
            ]
        )
    }

    @Test("the service manager's credential covers the config file, and the environment and the flags cover it")
    func credential() throws {
        let folder = self.folder.folder("credentials")
        let path = self.folder.file("credentials/finnhub-token", "from-credential\n", mode: 0o440)
        let keyFile = self.folder.file("key", "from-file")
        let yaml = self.folder.file("config.yaml", "token: from-config", mode: 0o644)
        func load(_ variables: [String: String] = [:], file: String? = nil) throws -> LoadedSettings {
            var flags = GivenFlags()
            flags.configFile = yaml
            if let file { flags.add(.tokenFile, [file], flag: "--token-file") }
            return try Settings.load(
                flags: flags,
                environment: ["CREDENTIALS_DIRECTORY": folder].merging(variables) { $1 }
            )
        }
        let credential = try load()
        #expect(credential.settings.token?.reveal() == "from-credential")
        #expect(credential.settings.origin(of: "token") == .file(path))
        #expect(credential.warnings.isEmpty)
        #expect(try load(["FINNHUB_TOKEN": "from-variable"]).settings.token?.reveal() == "from-variable")
        #expect(try load(["TICKERTAPE_TOKEN_FILE": keyFile]).settings.token?.reveal() == "from-file")
        #expect(try load(file: keyFile).settings.token?.reveal() == "from-file")
        #expect(try load(["FINNHUB_TOKEN": "none"]).settings.token == nil)
        for elsewhere in ["/nonexistent", "relative", self.folder.folder("others")] {
            let loaded = try load(["CREDENTIALS_DIRECTORY": elsewhere])
            #expect(loaded.settings.token?.reveal() == "from-config")
        }
    }

    @Test("a credential that cannot be used is an error that names it, not a silent DEMO")
    func badCredential() {
        let folder = self.folder.folder("credentials")
        for text in ["", "two words of c0ffee", String(repeating: "c0ffee", count: 1_000)] {
            _ = self.folder.file("credentials/finnhub-token", text)
            let error = self.failure { try Settings.load(environment: ["CREDENTIALS_DIRECTORY": folder]) }
            #expect(error.status == .configuration)
            #expect(error.message.contains("credential finnhub-token") && !error.message.contains("c0ffee"))
        }
    }

    @Test(
        "a file's blanks, line ends and byte order mark are no part of the key",
        arguments: ["c0ffee", "c0ffee\n", "c0ffee\r\n", "\u{feff}c0ffee\r\n", "  c0ffee\t\n\n"]
    )
    func blanks(text: String) throws {
        let loaded = try self.load(file: self.folder.file("key", text))
        #expect(loaded.settings.token?.reveal() == "c0ffee")
        #expect(loaded.warnings.isEmpty)
    }

    @Test(
        "a key with characters that Finnhub's keys lack causes a warning without the key",
        arguments: ["\"c0ffee\"", "'c0ffee'", "${c0ffee}", "token=c0ffee", "<c0ffee>", "c0ffee,"]
    )
    func unlikely(text: String) throws {
        let loaded = try self.load(token: text)
        #expect(loaded.settings.token?.reveal() == text)
        #expect(loaded.warnings.count == 1)
        #expect(loaded.warnings.allSatisfy { $0.contains("FINNHUB_TOKEN") && !$0.contains("c0ffee") })
        #expect(try self.load(token: "sandbox_C0ffee-1").warnings.isEmpty)
    }

    @Test("a key in place of its file's path is not repeated")
    func keyAsFile() {
        let error = self.failure { try self.load(file: "c0ffeec0ffeec0ffeec0") }
        #expect(error.message.contains("does not exist") && !error.message.contains("c0ffee"))
    }

    @Test("a key that could not stand in a request is refused without repeating it")
    func badKeys() {
        for text in [
            "c0ffee c0ffee", "c0ffee\u{1}", "c0fféé", "c0ffee\nc0ffee", "c0ffee\0", "\u{fffd}c0ffee",
            String(repeating: "c0ffee", count: 100),
        ] {
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
