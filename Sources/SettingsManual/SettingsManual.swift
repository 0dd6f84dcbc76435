/// The commented manual of the settings, `config/tickertape.yaml`, built into the program.
///
/// The file here is a link to it. The build turns the file into a constant (`.embedInCode`).
package enum SettingsManual {
    package static var text: String { String(decoding: PackageResources.tickertape_yaml, as: UTF8.self) }
}
