/* MurmurHash3_x64_128 against another implementation, against the verification
 * code of SMHasher, and against figures from many places. */
#include <murmurhash.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support.h"

static const uint32_t seeds[] = {
	0, 1, 0x9747b28c, 0x7fffffff, 0x80000000, 0xffffffd6, 0xffffffff
};

/* Key in hexadecimal ("30*255": the byte 255 times), hash as h1 and h2, and what
 * is got by reading the tail as signed bytes or by sign-extending the seed. */
struct vector {
	uint32_t seed;
	const char *key;
	const char *hash;
	const char *wrong;
};

/* Published for the ports of this hash to other languages. */
static const struct vector published[] = {
	{ 0x9747b28c,
	  "54686520717569636b2062726f776e20666f78206a756d7073206f76657220746865206c"
	  "617a7920646f67",
	  "738a7f3bd2633121f94573727ec016e5", NULL },
	{ 0x00000000, "", "00000000000000000000000000000000", NULL },
	{ 0x00000000, "68656c6c6f", "cbd8a7b341bd9b025b1e906a48ae1d19", NULL },
	{ 0x00000000, "68656c6c6f2c20776f726c64", "342fac623a5ebc8e4cdcbc079642414d", NULL },
	{ 0x00000000, "3139204a616e203230333820617420333a31343a303720414d",
	  "b89e5988b737affc664fc2950231b2cb", NULL },
	{ 0x00000000,
	  "54686520717569636b2062726f776e20666f78206a756d7073206f76657220746865206c"
	  "617a7920646f672e",
	  "cd99481f9ee902c9695da1a38987b6e7", NULL },
	{ 0x00000001, "", "4610abe56eff5cb551622daa78f83583", NULL },
	{ 0x00000001, "68656c6c6f", "a78ddff5adae8d10128900ef20900135", NULL },
	{ 0x00000001, "68656c6c6f2c20776f726c64", "8b95f808840725c61597ed5422bd493b", NULL },
	{ 0x00000001, "3139204a616e203230333820617420333a31343a303720414d",
	  "2a929de9c8f97b2f56a41d99af43a2db", NULL },
	{ 0x00000001,
	  "54686520717569636b2062726f776e20666f78206a756d7073206f76657220746865206c"
	  "617a7920646f672e",
	  "fb3325171f9744daaaf8b92a5f722952", NULL },
	{ 0x0000002a, "", "f02aa77dfa1b8523d1016610da11cbb9", NULL },
	{ 0x0000002a,
	  "54686520717569636b2062726f776e20666f78206a756d7073206f76657220746865206c"
	  "617a7920646f672e",
	  "74f33c659cda5af74ec7a891caf316f0", NULL },
	{ 0x00000000, "68656c6c", "629942693e10f86792db0b82baeb5347", NULL },
	{ 0x00000000,
	  "54686520717569636b2062726f776e20666f78206a756d7073206f76657220746865206c"
	  "617a7920646f67",
	  "e34bbc7bbc071b6c7a433ca9c49a9347", NULL },
	{ 0x00000000,
	  "54686520717569636b2062726f776e20666f78206a756d7073206f76657220746865206c"
	  "617a7920636f67",
	  "658ca970ff85269a43fee3eaa68e5c3e", NULL },
	{ 0x0000007b, "", "81679d1a4cd959704bace33dbd92f878", NULL },
	{ 0x00000000, "2e", "d905a836615e096ddcdd4b5360fef509", NULL },
	{ 0x00000000, "2ef6f9b8", "c6d9ffcfd22fe4638bf10056c855dc8a", NULL },
	{ 0x00000000, "2ef6f9b8f7", "2386bef571b40e3e41c0c6dd263cc2bb", NULL },
	{ 0x00000000, "2ef6f9b8f75463", "a9d898e8cd03cd876d1cc13d300c0bf2", NULL },
	{ 0x00000000, "2ef6f9b8f75463903e4d", "122c21353eaa493d07e90efa509cde7f", NULL },
	{ 0x00000000, "2ef6f9b8f75463903e4dc3dc", "b0e9d9dfb5a5687831e633ee15bc9d9c", NULL },
	{ 0x00000000, "2ef6f9b8f75463903e4dc3dc5c", "caf37c7a977c18865f741c69bd039399", NULL },
	{ 0x00000000, "2ef6f9b8f75463903e4dc3dc5c1496", "a1ab9cdbfd0af5cdc2481e80c2eac613", NULL },
	{ 0x00000000, "2ef6f9b8f75463903e4dc3dc5c14969f", "48ba1d832a776f7cb29fe966f2fd5bc9",
	  NULL },
	{ 0x00000000, "2ef6f9b8f75463903e4dc3dc5c14969f26", "8a7cf85a97fd9daca67ac1db9ea6561c",
	  NULL },
	{ 0x00000000, "2ef6f9b8f75463903e4dc3dc5c14969f26287c", "a67bfd3277d7ef9d923ee472b0ac6ad5",
	  NULL },
	{ 0x00000000, "2ef6f9b8f75463903e4dc3dc5c14969f26287cfcb91c",
	  "ed701620106bac6761341b6f7eddedf3", NULL },
	{ 0x00000000, "2ef6f9b8f75463903e4dc3dc5c14969f26287cfcb91c3f0dd5",
	  "b1e34bb5c2afd5fbf45b32d82540e049", NULL },
	{ 0x00000000, "2ef6f9b8f75463903e4dc3dc5c14969f26287cfcb91c3f0dd5ac55c6",
	  "7efaceb61171296f1a17c55a47e701bf", NULL },
	{ 0x00000000, "2ef6f9b8f75463903e4dc3dc5c14969f26287cfcb91c3f0dd5ac55c6764a6d",
	  "37ee026f4e29a330d8f412449c2cddba", NULL },
	{ 0xffffffd6, "", "63adb841c4ad7d0da5eb68db5665b29a", "52a1b1290be8d0c12e618dc9cc1c48f8" },
	{ 0xffffffd6, "14", "f9993085892c366562295b32fff77be9",
	  "75f9f4a5dfb3c26b6d45e4cd0f967c93" },
	{ 0xffffffd6, "1496", "d51cdacddbf7d36c2956aa0e07c5baea",
	  "d1ba1b2efcb485fcd88ca4edeed4029a" },
	{ 0xffffffd6, "14969f", "461f2d87a7216342c196c6a9e5911501",
	  "e1c67a397ceb8d64e99fc8408e8ba904" },
	{ 0xffffffd6, "14969f26", "4570c16bd4602602a42c5f96bd9aae80",
	  "39e90372a1a9c0d0c606faec21bf6f49" },
	{ 0xffffffd6, "14969f2628", "1c5bfa108c5a8f14f571901399600293",
	  "68bc34b02fa4817cb78752f4906fd58f" },
	{ 0xffffffd6, "14969f26287c", "5e8ca6603114b5ece6c33ac421a0c29c",
	  "d7f6202552106c0de3465933c0ead59e" },
	{ 0xffffffd6, "14969f26287cfc", "3e48d3e67295574c763dc86a555b39eb",
	  "debbcb9dd6a6797d454218488f3e9fa6" },
	{ 0xffffffd6, "14969f26287cfcb9", "415ab8099886b3fee09b79a44aadb7ef",
	  "f63214c074bb80866884340b1af4d68e" },
	{ 0xffffffd6, "14969f26287cfcb91c", "ad80d7c5fe2ec20452d52237064a8286",
	  "5a09cde98b9bd04131a14adf5c87c24c" },
	{ 0xffffffd6, "14969f26287cfcb91c3f", "e00522a804b802325988557ed9e9af98",
	  "5c9554c95ac0c19dd06d1ed06d3222a8" },
	{ 0xffffffd6, "14969f26287cfcb91c3f0d", "f15f299b3bce7cd3f34cdc4b281a0a7c",
	  "87429af85e5425e4d9db8a76d719efff" },
	{ 0xffffffd6, "14969f26287cfcb91c3f0dd5", "120c3412981c4a21fa74b6e16a064c4a",
	  "82b364556e3684c155130e5afddc91ba" },
	{ 0xffffffd6, "14969f26287cfcb91c3f0dd5ac", "d8d7059a9e430a72823ed503e57984f3",
	  "0a21556642c106beff7ecc1e18e500b4" },
	{ 0xffffffd6, "14969f26287cfcb91c3f0dd5ac55", "6f1a30b4ed92fc4139637e6513266025",
	  "cb38346d3a0ff8d9c4e974339010a38d" },
	{ 0xffffffd6, "14969f26287cfcb91c3f0dd5ac55c6", "046adad865b29fbab5ac2cabee4d5786",
	  "4f934f1933f88388f57126895b38ccf2" },
	{ 0xffffffd6, "14969f26287cfcb91c3f0dd5ac55c676", "2eeaba819b9b86511a3dcb31f1ddb5eb",
	  "ab616899b24161a008ad78d46b838849" },
	{ 0xffffffd6, "14969f26287cfcb91c3f0dd5ac55c6764a", "2558826de99455516e8433479413bd36",
	  "1252e14ca0566600e0bf63f3b0787163" },
	{ 0xffffffd6, "14969f26287cfcb91c3f0dd5ac55c6764a6d", "b6c2afeb37f2459d3226fcda08b87e9d",
	  "4d0aaed11f83489ecf317ccbab11b93b" },
	{ 0xffffffd6, "14969f26287cfcb91c3f0dd5ac55c6764a6d9d", "7605c67f8c4eba431c8f8e6f22cee214",
	  "09b2e77744dea6b92ff9a290b47ab083" },
	{ 0xffffffd6, "14969f26287cfcb91c3f0dd5ac55c6764a6d9d84",
	  "a4b4c0b144622f9f2df3bf0166f7b80b", "51880a1c3b13707dabb45e1f30c478c1" },
	{ 0xffffffd6, "14969f26287cfcb91c3f0dd5ac55c6764a6d9d84d8",
	  "ade990fd2ecf46b99982b8f525b354cd", "9e6dba7cb1906583d3f16669f207c03e" },
	{ 0xffffffd6, "14969f26287cfcb91c3f0dd5ac55c6764a6d9d84d84c",
	  "092785bbc4a205060bda45cca5b1d809", "5edd9aa74e8af57c648caa4a5992f19b" },
	{ 0xffffffd6, "14969f26287cfcb91c3f0dd5ac55c6764a6d9d84d84cb1",
	  "9ec14a317911aae2130b3d63f1ca6dba", "945dfa7a2deb0c0ca34a20c65b32391b" },
	{ 0xffffffd6, "14969f26287cfcb91c3f0dd5ac55c6764a6d9d84d84cb1ad",
	  "08a4f46810fd243bc688fb5a7d694c34", "d4fb557cdee628cfd9d232d88030b03a" },
	{ 0xffffffd6, "14969f26287cfcb91c3f0dd5ac55c6764a6d9d84d84cb1ad17",
	  "73fa6bebc8c1eac9be42606f23d444de", "942424d744582d43490aaa1a8c50e9db" },
	{ 0xffffffd6, "14969f26287cfcb91c3f0dd5ac55c6764a6d9d84d84cb1ad178c",
	  "1ea77084cd07167d8bfa75402ce3216e", "6782aea199b9b7774beb6a0759905116" },
	{ 0xffffffd6, "14969f26287cfcb91c3f0dd5ac55c6764a6d9d84d84cb1ad178c56",
	  "0be8a7a328db1f58af3313318df9bfb1", "9466688852a9442cdfa99ddf2f016ce7" },
	{ 0xffffffd6, "14969f26287cfcb91c3f0dd5ac55c6764a6d9d84d84cb1ad178c5692",
	  "e46804c0c7684cb911853a642aa7bcda", "ae218d0ec945b45556899bbe6e83df1e" },
	{ 0xffffffd6, "14969f26287cfcb91c3f0dd5ac55c6764a6d9d84d84cb1ad178c56925f",
	  "88eca02afacdac42327028fcc9fdd642", "43bf65a808b0dc242452a4ea0abaf7c8" },
	{ 0xffffffd6, "14969f26287cfcb91c3f0dd5ac55c6764a6d9d84d84cb1ad178c56925f36",
	  "5d0f4e6963c29727480ec5d7e5804bc4", "b0944d90e8df540fb4b86422022f7c8e" },
	{ 0xffffffd6, "14969f26287cfcb91c3f0dd5ac55c6764a6d9d84d84cb1ad178c56925f36b0",
	  "a6d0cd492fe8d0d2ea15d443328bfe2b", "cc9b2a4ab12f2a05e284856b429d60b5" },
	{ 0x00019919, "", "9d2764a018e329428c3cf3b035938518", NULL },
	{ 0x00019919, "2e", "4e8c56ce227f361af2a518eb79f9af55", NULL },
	{ 0x00019919, "2ef6f9b8", "90fba3d98ff4b0a1942b70c4fdb4a5c1", NULL },
	{ 0x00019919, "2ef6f9b8f7", "2192864cef0ec414b4062e60282fcbb9", NULL },
	{ 0x00019919, "2ef6f9b8f75463", "d0627c6d85c1a6e9a48ba6f39198d48b", NULL },
	{ 0x00019919, "2ef6f9b8f75463903e4d", "6815bd71a670da134a40b76056e8c1fc", NULL },
	{ 0x00019919, "2ef6f9b8f75463903e4dc3dc", "a69e188f49142e3fdf0c93ce618d33ee", NULL },
	{ 0x00019919, "2ef6f9b8f75463903e4dc3dc5c", "d560c6f41734153e6885a2b64ef2cfa7", NULL },
	{ 0x00019919, "2ef6f9b8f75463903e4dc3dc5c1496", "0bef5ce0070859cb82bd2d4935842858", NULL },
	{ 0x00019919, "2ef6f9b8f75463903e4dc3dc5c14969f", "6fd9b0fe1c67fc762ce89d70073b5ca2",
	  NULL },
	{ 0x00019919, "2ef6f9b8f75463903e4dc3dc5c14969f26", "1972c6527e31ff7913adef38e476bfd4",
	  NULL },
	{ 0x00019919, "2ef6f9b8f75463903e4dc3dc5c14969f26287c", "32b275dce065a29e4caebf1948247bdd",
	  NULL },
	{ 0x00019919, "2ef6f9b8f75463903e4dc3dc5c14969f26287cfcb91c",
	  "d4d8d69d3ff16a65cb82bac85bdbadec", NULL },
	{ 0x00019919, "2ef6f9b8f75463903e4dc3dc5c14969f26287cfcb91c3f0dd5",
	  "2094c500eddd0ef09874f7654ae61831", NULL },
	{ 0x00019919, "2ef6f9b8f75463903e4dc3dc5c14969f26287cfcb91c3f0dd5ac55c6",
	  "5e78352d8dd6875aec080c472358aa4d", NULL },
	{ 0x00019919, "2ef6f9b8f75463903e4dc3dc5c14969f26287cfcb91c3f0dd5ac55c6764a6d",
	  "928bf02e0d104c7da91b40c3841c733d", NULL },
	{ 0x00000000,
	  "2ef6f9b8f75463903e4dc3dc5c14969f26287cfcb91c3f0dd5ac55c6764a6d9d84d84cb1"
	  "ad178c56925f36b072b3eaaeb78d7a0c3c74c88e06a73bf0211da56ff31edb6eff352023"
	  "40e1609846298550f47f39c705a497311ab4cb536c277ed02aceb21345df47e7fa7dd3e8"
	  "bd372c5230dd2bc0f1679b1b33a315a95b5ed9bf4e485d6668690871648f59f5e378a0fb"
	  "99912ddaa8e9e5fd4316b6628980870bd64249abbcaa83cf4f6a184bedc20781d751f8f2"
	  "101988939c61340ab511cd3a6544e6012500de588294e02f32c522d4c4d10e248be49a1f"
	  "afcaeca103a2befe8677043d4175ba6bcc09bbc95a95e238efeeeb70571279738a7bd202"
	  "c1a69e0f",
	  "1b5e5aef2b46af5147c5f52c49f6ada7", NULL },
};

/* Short keys that differ by one byte, high bytes in the tail, both sides of sizes
 * where buffers end. */
static const struct vector edges[] = {
	{ 0x00000000, "(empty)", "00000000000000000000000000000000", NULL },
	{ 0x00000000, "0a", "3677588e81cca2181115f1589ea04927", NULL },
	{ 0x00000000, "0d", "913562e74f0bafa6667feacd60935509", NULL },
	{ 0x00000000, "61", "85555565f6597889e6b53a48510e895a", NULL },
	{ 0x00000000, "610d", "ad09e73f2fa2c78066b9a75ef7f8e16d", NULL },
	{ 0x00000000, "610a", "fdc58cde8c1ecf0c21df7d5ff71f8114", NULL },
	{ 0x00000000, "00", "4610abe56eff5cb551622daa78f83583", NULL },
	{ 0x00000000, "610062", "2def92d2c1e6b5dba3a9f0d0b307b2b4", NULL },
	{ 0x00000000, "6100", "96a698500b4e98bdb278c9bfc754677d", NULL },
	{ 0x00000000, "20", "18f081109e84f7393fd44c9b7c437cb8", NULL },
	{ 0x00000000, "09", "8012b31512088c65ef7ca289ea728b51", NULL },
	{ 0x00000000, "c3a9", "c9187aa411d463e87e65c76bdfca7e3f",
	  "4bcacd1ed0f5528019f7a5a335def7ad" },
	{ 0x00000000, "e9", "1c2744de42ecf9a7faf83b18f0d249f9",
	  "6ae95a824536ee3985eb946ecd659c4a" },
	{ 0x00000000, "616161616161c3a9", "45e5379c0e45a991f44f0eb93fe0b225",
	  "c18ead46fd74b4738548320ba3d6d368" },
	{ 0x00000000, "6e61c3af7665", "94304fa55f4cfbbadfc8e2d810fc3e86",
	  "86235db066421a6fd4c6635cbaadb05c" },
	{ 0x00000000, "e697a5e69cace8aa9e", "12bb87b9a8fbeff4e40f80470a4776ee",
	  "23e7bac2d4f755910d8ec49d0759a3ea" },
	{ 0x00000000, "ff", "47da3778a4e290ecfa2f17143880ce2e",
	  "c25a08894c506b7fac0bbee7ce7542c7" },
	{ 0x00000000, "80", "61619a676395018a04d49bf29c500821",
	  "b6aa75aff6f3b4346ec0210d9ab133c5" },
	{ 0x00000000, "ffffffffffffffffffffffffffffff", "2c9d1a48cb13ee54080e9aebb4723701",
	  "e187e84efa24f0915536ce977875b220" },
	{ 0x00000000, "ffffffffffffffffffffffffffffffff", "d8ce73d7a39a46e6d0ac179d2650b632",
	  NULL },
	{ 0x00000000, "ffffffffffffffffffffffffffffffffff", "93b3db80aa4d392ffc12d3488581444c",
	  "c6b5a45505a4008d375f26a872caa07a" },
	{ 0x00000000, "80808080808080808080808080808080808080808080808080808080808080",
	  "ade46de4c380e40d2ac852546e82859a", "1df38deb690be2d074dd5deb4ef76ee8" },
	{ 0x00000000, "efbbbf6578616d706c652e636f6d", "76f1051fdb4065debc5364fccdcb00c5",
	  "888714fc22b384ec9dd19bf42f20d177" },
	{ 0x00000000, "6578616d706c652e636f6d", "490c5c28a496c5d10fe3ff5c586b2805", NULL },
	{ 0x00000000, "4558414d504c452e434f4d", "8bdf9fef984a4c3ae5ceb31a4d635d31", NULL },
	{ 0x00000000, "30*255", "f89ebcee3563d2b7e6508fc988ad3bb3", NULL },
	{ 0x00000000, "30*256", "e144572a432fffb39c3d720edebcbc91", NULL },
	{ 0x00000000, "30*4095", "f66c49a49771cae3483a8f726547d515", NULL },
	{ 0x00000000, "30*4096", "0a12954cd5e9830cb232406ad9504251", NULL },
	{ 0x00000000, "30*65535", "776b314c7473c0d3f6792846462c1da7", NULL },
	{ 0x00000000, "30*65536", "6e72406c8432763db13b1aad2a84615e", NULL },
	{ 0x9747b28c, "c3a9", "c137f2ac711261e91e452f78ffe395d9",
	  "b08cb9042a485b18dd82d276f5f3e326" },
	{ 0x9747b28c, "e9", "be236892a16e705b9c3e8db3b1d90fd2",
	  "99012c9e711552d8dd8b0dcebf75bbc7" },
	{ 0x9747b28c, "616161616161c3a9", "369f640ae4717c00bf7599edf70d1322",
	  "0aac41b395a0652f01ad65727ebf7eaa" },
	{ 0x9747b28c, "6e61c3af7665", "4791e66919abfb7bcbccec7b729baeb0",
	  "3a11f4b90224dcc940436fce033229e4" },
	{ 0x9747b28c, "e697a5e69cace8aa9e", "315ed0da36bdeff1dd50e0187bdf2404",
	  "543d9b90e537a6307e4765e74216d3f8" },
	{ 0x9747b28c, "ff", "49fea334488c859b1d1f8cd64da9f534",
	  "3e66f7f1dc187ba4d38b486e594b3a00" },
	{ 0x9747b28c, "80", "2f63f31b96751937d568da584dc997d7",
	  "4969b656a9ff357cecd9149661b3a6d0" },
	{ 0x9747b28c, "ffffffffffffffffffffffffffffff", "edec42f56d6106f356a543a23078b7f9",
	  "3a604f87bfd35314b3740827dc854816" },
	{ 0x9747b28c, "ffffffffffffffffffffffffffffffffff", "92020554d99b506723053aa483be4ff0",
	  "3b3c1842da035b72819cf18fb7d40094" },
	{ 0x9747b28c, "80808080808080808080808080808080808080808080808080808080808080",
	  "80c91749ce2cf22ca2672eff810a4875", "340625e1d10e8eb658c0056d6f1a892c" },
	{ 0x9747b28c, "efbbbf6578616d706c652e636f6d", "6a6185edc16e24a1a494e30b67d501fe",
	  "e7ccf0d27af108dfd80f72c79fe21772" },
	{ 0xffffffff, "(empty)", "6af1df4d9d3bc9ec857421121ee6446b", NULL },
	{ 0xffffffff, "0a", "07127d079d41b5c70dc56d0ffdf0aea2", NULL },
	{ 0xffffffff, "0d", "a853e93004ee6d75eb2a45c904aaa332", NULL },
	{ 0xffffffff, "61", "bef385faead16340a9363d237b2ee74c", NULL },
	{ 0xffffffff, "610d", "f45fc49c992c5c54833582f2ac668fe5", NULL },
	{ 0xffffffff, "610a", "b1c0b1de6fc9f3cf47ead8828525ba8d", NULL },
	{ 0xffffffff, "00", "97fa8c007c7250e66956901461600097", NULL },
	{ 0xffffffff, "610062", "bd2dc5b6b2035f2d486b1fcee7cff50f", NULL },
	{ 0xffffffff, "6100", "6a60b4ff6f15654d06aeea22cb7538d3", NULL },
	{ 0xffffffff, "20", "5416650dabbd7f75d35bd2d759324c18", NULL },
	{ 0xffffffff, "09", "63b79ba5d829fc601013255f74dcde87", NULL },
	{ 0xffffffff, "c3a9", "8798c948f86386940109aecfedbb2546",
	  "a4c37957e83cf08a41e35f62f75150fe" },
	{ 0xffffffff, "e9", "ccf396bcf8c87a42c6b0138eed8c900d",
	  "39120ead1c8dea81a9551f51ac65aad4" },
	{ 0xffffffff, "616161616161c3a9", "3bb0b614949a77354316f327ea77bf7e",
	  "ffe724bcf555aab31ebd938941bebe27" },
	{ 0xffffffff, "6e61c3af7665", "d1e6e9df1117f84a411d7f1deb7e6cb9",
	  "054fa9672bec41a7845ba3ad7a0887a4" },
	{ 0xffffffff, "e697a5e69cace8aa9e", "8ff9f0b13fe54c0521d10d82ce5dce09",
	  "513d0cf8adc3c8a13e639fee585728ec" },
	{ 0xffffffff, "ff", "36a95b51461764eb1179f46b19a216e9",
	  "40019279c39eb9251222ad7d70575c7f" },
	{ 0xffffffff, "80", "4871718729f1be04f025b50686c1e5e0",
	  "5e042eb5ec05bff8567c6fede48964ca" },
	{ 0xffffffff, "ffffffffffffffffffffffffffffff", "b23fad377eba0961d76f86b310e7ed66",
	  "a4cfb189d34d4188418b125acd0719f5" },
	{ 0xffffffff, "ffffffffffffffffffffffffffffffff", "06da21bb0268bf001a021ae23c0ffaa7",
	  NULL },
	{ 0xffffffff, "ffffffffffffffffffffffffffffffffff", "c5fba339c162ea96d87040260acc64bd",
	  "28307e8102db2e3a2861b01e006093fc" },
	{ 0xffffffff, "80808080808080808080808080808080808080808080808080808080808080",
	  "7dbe18cfdc3105e76ead706901114830", "0b2bba7e49cc70c3ed4c3e607435ae67" },
	{ 0xffffffff, "efbbbf6578616d706c652e636f6d", "f0bf3fd81ef5a486f21b34d09c2c5d69",
	  "21de48f809b8ed89643cad2b8cac2435" },
	{ 0xffffffff, "6578616d706c652e636f6d", "ffc11ff6c551b92d276d81b740407726", NULL },
	{ 0xffffffff, "4558414d504c452e434f4d", "27d9e20c2ec35372afd2a0dd7037c290", NULL },
	{ 0xffffffff, "30*255", "fb8be6f0fc394b487b2b3cb78eb7cf79", NULL },
	{ 0xffffffff, "30*256", "316b4ed522bcf78db58d2c3992265855", NULL },
	{ 0xffffffff, "30*4095", "78366e9149d16497246e7580efda9f65", NULL },
	{ 0xffffffff, "30*4096", "0cd2b978facb2276b5bfad04ca2c452f", NULL },
	{ 0xffffffff, "30*65535", "0cd2571b76fd58a030479776d6e34f5d", NULL },
	{ 0xffffffff, "30*65536", "1c96768c3d89dc825ce27265c9e3ddfb", NULL },
};

static void assert_same_hash(struct sketch_hash got, const uint64_t expected[2], size_t length,
			     unsigned int alignment, uint32_t seed)
{
	if (got.h1 == expected[0] && got.h2 == expected[1])
		return;
	fail_msg("%zu bytes at alignment %u, seed %08x: %016llx %016llx, expected %016llx %016llx",
		 length, alignment, seed, (unsigned long long)got.h1, (unsigned long long)got.h2,
		 (unsigned long long)expected[0], (unsigned long long)expected[1]);
}

static void hash__every_length_and_alignment__equals_libmurmurhash(void **state)
{
	struct dice dice = { 1 };
	uint8_t key[300];
	uint8_t *page = aligned_alloc(64, 512);

	(void)state;
	assert_non_null(page);
	for (unsigned int length = 0; length <= 300; length++) {
		dice_fill(&dice, key, length);
		for (size_t s = 0; s < COUNT_OF(seeds); s++) {
			uint64_t expected[2];

			lmmh_x64_128(key, length, seeds[s], expected);
			for (unsigned int alignment = 0; alignment < 16; alignment++) {
				/* Other neighbours each time: they must not matter. */
				dice_fill(&dice, page, 512);
				memcpy(page + 64 + alignment, key, length);
				assert_same_hash(sketch_murmur3_x64_128(page + 64 + alignment,
									length, seeds[s]),
						 expected, length, alignment, seeds[s]);
			}
		}
	}
	free(page);
}

static void hash__random_longer_keys__equals_libmurmurhash(void **state)
{
	struct dice dice = { 2 };
	const size_t room = 200000;
	uint8_t *key = malloc(room);

	(void)state;
	assert_non_null(key);
	dice_fill(&dice, key, room);
	for (int i = 0; i < 500; i++) {
		uint32_t seed = (uint32_t)dice_next(&dice);
		unsigned int alignment = (unsigned int)dice_below(&dice, 16);
		unsigned int most = i % 10 == 0 ? 199000 : 4000;
		unsigned int length = (unsigned int)dice_between(&dice, 301, most);
		uint64_t expected[2];

		lmmh_x64_128(key + alignment, length, seed, expected);
		assert_same_hash(sketch_murmur3_x64_128(key + alignment, length, seed), expected,
				 length, alignment, seed);
	}
	free(key);
}

/* At the end of a mapping, at its start, and in a block of exactly its length (for
 * the instruments that watch blocks): a byte read beyond the key ends the test. */
static void hash__key_at_edge_of_memory__reads_nothing_beyond(void **state)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *map = mmap(NULL, 3 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct dice dice = { 3 };

	(void)state;
	assert_true(map != MAP_FAILED);
	assert_int_equal(mprotect(map + page, page, PROT_READ | PROT_WRITE), 0);
	dice_fill(&dice, map + page, page);
	for (unsigned int length = 0; length <= 300; length++) {
		const uint8_t *first = map + page;
		const uint8_t *last = map + 2 * page - length;
		uint8_t *block = malloc(length ? length : 1);
		uint64_t expected[2];

		assert_non_null(block);
		memcpy(block, last, length);
		lmmh_x64_128(first, length, 7, expected);
		assert_same_hash(sketch_murmur3_x64_128(first, length, 7), expected, length, 0, 7);
		lmmh_x64_128(block, length, 7, expected);
		assert_same_hash(sketch_murmur3_x64_128(last, length, 7), expected, length, 0, 7);
		assert_same_hash(sketch_murmur3_x64_128(block, length, 7), expected, length, 0, 7);
		free(block);
	}
	munmap(map, 3 * page);
}

static void hash__no_data__equals_hash_of_empty_key(void **state)
{
	(void)state;
	for (size_t s = 0; s < COUNT_OF(seeds); s++) {
		struct sketch_hash none = sketch_murmur3_x64_128(NULL, 0, seeds[s]);
		struct sketch_hash empty = sketch_murmur3_x64_128("x", 0, seeds[s]);

		assert_true(none.h1 == empty.h1);
		assert_true(none.h2 == empty.h2);
	}
}

/* SMHasher's method: the keys {}, {0}, {0, 1}, ... {0, ..., 254} under the seeds
 * 256, 255, ... 1; their hashes, one after another as little-endian bytes, are
 * hashed under seed 0, and the first four bytes of that are the code. */
static void hash__verification_method_of_smhasher__gives_6384ba69(void **state)
{
	uint8_t key[256];
	uint8_t hashes[256 * 16];

	(void)state;
	for (unsigned int i = 0; i < 256; i++) {
		struct sketch_hash hash = sketch_murmur3_x64_128(key, i, 256 - i);

		put64(hashes + (size_t)16 * i, hash.h1);
		put64(hashes + (size_t)16 * i + 8, hash.h2);
		key[i] = (uint8_t)i;
	}
	assert_int_equal(sketch_murmur3_x64_128(hashes, sizeof hashes, 0).h1 & 0xffffffff,
			 0x6384ba69);
}

static void text_of_hash(char text[33], struct sketch_hash hash)
{
	snprintf(text, 33, "%016llx%016llx", (unsigned long long)hash.h1,
		 (unsigned long long)hash.h2);
}

static void check_vector(const char *key_hex, uint32_t seed, const char *hash, const char *wrong)
{
	struct bytes key = bytes_from_hex(key_hex);
	char text[33];

	text_of_hash(text, sketch_murmur3_x64_128(key.data, key.length, seed));
	bytes_free(&key);
	if (strcmp(text, hash) != 0)
		print_error("key %s, seed %08x\n", key_hex, seed);
	assert_string_equal(text, hash);
	if (wrong)
		assert_string_not_equal(text, wrong);
}

static void hash__published_vectors__match(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(published); i++)
		check_vector(published[i].key, published[i].seed, published[i].hash,
			     published[i].wrong);
}

static void hash__edge_vectors__match(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(edges); i++)
		check_vector(edges[i].key, edges[i].seed, edges[i].hash, edges[i].wrong);
}

static void hash__million_zero_bytes__matches(void **state)
{
	uint8_t *zeros = calloc(1000000, 1);
	struct sketch_hash hash;

	(void)state;
	assert_non_null(zeros);
	hash = sketch_murmur3_x64_128(zeros, 1000000, 0);
	free(zeros);
	assert_true(hash.h1 == UINT64_C(0x792f3222729f3519));
	assert_true(hash.h2 == UINT64_C(0x4d58bd81abd25103));
}

/* Splits a row at its tabs; returns the number of fields. */
static size_t split(char *row, char *fields[8])
{
	size_t count = 0;

	row[strcspn(row, "\n")] = 0;
	for (char *next = row; next && count < 8; count++) {
		fields[count] = next;
		next = strchr(next, '\t');
		if (next)
			*next++ = 0;
	}
	return count;
}

static void check_published_row(char *fields[8])
{
	if (strcmp(fields[0], "x64_128") == 0)
		check_vector(fields[2], (uint32_t)strtoul(fields[1], NULL, 16), fields[3], NULL);
}

static void check_edge_row(char *fields[8])
{
	check_vector(fields[0], (uint32_t)strtoul(fields[2], NULL, 16), fields[4],
		     fields[6][0] == '-' ? NULL : fields[6]);
}

static void check_length_row(char *fields[8])
{
	char hex[2 * 256 + 1] = "";
	size_t length = strtoul(fields[0], NULL, 10);

	assert_true(length <= 256);
	for (size_t i = 0; i < length; i++)
		snprintf(hex + 2 * i, 3, "%02x", (unsigned int)(37 * i + 11) % 256);
	check_vector(hex, (uint32_t)strtoul(fields[1], NULL, 16), fields[4], NULL);
}

static void check_wrong_row(char *fields[8])
{
	check_vector(fields[1], (uint32_t)strtoul(fields[0], NULL, 16), fields[3], fields[2]);
}

static size_t check_rows(const char *name, size_t field_count, void (*check)(char *fields[8]))
{
	char path[512];
	char row[4096];
	size_t rows = 0;
	FILE *file;

	assert_true(shared_path(path, name));
	file = fopen(path, "r");
	assert_non_null(file);
	while (fgets(row, sizeof row, file)) {
		char *fields[8];

		if (row[0] == '#')
			continue;
		assert_int_equal(split(row, fields), field_count);
		check(fields);
		rows++;
	}
	fclose(file);
	return rows;
}

static void hash__all_rows_of_handed_over_tables__match(void **state)
{
	char path[512];

	(void)state;
	if (!shared_path(path, "vectors"))
		skip();
	assert_int_equal(check_rows("vectors/murmur3_published.tsv", 5, check_published_row), 303);
	assert_int_equal(check_rows("vectors/murmur3_derived_edge.tsv", 7, check_edge_row), 128);
	assert_int_equal(check_rows("vectors/murmur3_lengths.tsv", 5, check_length_row), 393);
	assert_int_equal(check_rows("vectors/murmur3_x64_128_signext_seed_WRONG.tsv", 4,
				    check_wrong_row),
			 32);
}

/* The hash of zero bytes, of which only the number of whole blocks and the length
 * matter; the length must be a multiple of 16. */
static struct sketch_hash hash_of_zeros(uint64_t length, uint32_t seed)
{
	uint64_t h1 = seed, h2 = seed;

	for (uint64_t block = 0; block < length / 16; block++) {
		h1 = (h1 << 27 | h1 >> 37) + h2;
		h1 = h1 * 5 + 0x52dce729;
		h2 = (h2 << 31 | h2 >> 33) + h1;
		h2 = h2 * 5 + 0x38495ab5;
	}
	h1 ^= length;
	h2 ^= length;
	h1 += h2;
	h2 += h1;
	for (int i = 0; i < 2; i++) {
		uint64_t *half = i == 0 ? &h1 : &h2;

		*half ^= *half >> 33;
		*half *= UINT64_C(0xff51afd7ed558ccd);
		*half ^= *half >> 33;
		*half *= UINT64_C(0xc4ceb9fe1a85ec53);
		*half ^= *half >> 33;
	}
	h1 += h2;
	return (struct sketch_hash){ h1, h2 + h1 };
}

/* Past the lengths that an int, and that 32 bits, can hold.  Pages of a mapping
 * that are only read are all the same page of zeros. */
static void hash__lengths_beyond_31_and_32_bits__count_all_bytes(void **state)
{
	static const uint64_t lengths[] = { (UINT64_C(1) << 31) + 16, (UINT64_C(1) << 32) + 16 };
	uint8_t *zeros;

	(void)state;
	if (!run_long() || run_slow() || sizeof(size_t) < 8)
		skip();
	zeros = mmap(NULL, (size_t)lengths[1], PROT_READ,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	assert_true(zeros != MAP_FAILED);
	for (size_t i = 0; i < COUNT_OF(lengths); i++) {
		struct sketch_hash expected = hash_of_zeros(lengths[i], 1);
		struct sketch_hash got = sketch_murmur3_x64_128(zeros, (size_t)lengths[i], 1);
		uint64_t other[2];

		assert_true(got.h1 == expected.h1 && got.h2 == expected.h2);
		/* libmurmurhash takes an unsigned int. */
		if (lengths[i] <= UINT32_MAX) {
			lmmh_x64_128(zeros, (unsigned int)lengths[i], 1, other);
			assert_true(got.h1 == other[0] && got.h2 == other[1]);
		}
	}
	munmap(zeros, (size_t)lengths[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hash__every_length_and_alignment__equals_libmurmurhash),
		cmocka_unit_test(hash__random_longer_keys__equals_libmurmurhash),
		cmocka_unit_test(hash__key_at_edge_of_memory__reads_nothing_beyond),
		cmocka_unit_test(hash__no_data__equals_hash_of_empty_key),
		cmocka_unit_test(hash__verification_method_of_smhasher__gives_6384ba69),
		cmocka_unit_test(hash__published_vectors__match),
		cmocka_unit_test(hash__edge_vectors__match),
		cmocka_unit_test(hash__million_zero_bytes__matches),
		cmocka_unit_test(hash__all_rows_of_handed_over_tables__match),
		cmocka_unit_test(hash__lengths_beyond_31_and_32_bits__count_all_bytes),
	};

	return cmocka_run_group_tests_name("murmur3", tests, NULL, NULL);
}
