/// The symbols alone, for commands without a connection to the service.
struct SymbolFlags: SettingFlags {
    var symbols: [String]
    var authorityFile: String? = nil

    func add(to flags: inout GivenFlags) {
        if !self.symbols.isEmpty { flags.add(.symbols, self.symbols, flag: "--symbol") }
        flags.add(.authorityFile, self.authorityFile)
    }
}
