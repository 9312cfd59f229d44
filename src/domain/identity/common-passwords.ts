// The most common passwords of 8 characters and more, from what leaks have shown; in lower case. What is tried first
// by anybody who guesses must not be anybody's password.

export const COMMON_PASSWORDS: ReadonlySet<string> = new Set(
  `
  password password1 password2 password3 password12 password123 password1234 password12345 password123456 password!
  password1! password@123 password@1 password123! password01 password10 password11 password99 password2020 password2021
  password2022 password2023 password2024 password2025 password2026 passw0rd passw0rd1 passw0rd! passw0rd123 p@ssw0rd
  p@ssw0rd1 p@ssw0rd123 p@ssw0rd! p@ssword p@ssword1 p@ssword123 pa$$word pa$$w0rd pa55word passwort passwort1 passpass
  mypassword newpassword yourpassword thepassword passwords passport password0 password7 password9 secret123 secretsecret
  12345678 123456789 1234567890 12345678910 123456789a 123456789q 12345678a 12345678q 1234567891 0123456789 01234567
  012345678 123123123 123123123123 12341234 123412341234 123451234 1234512345 123456123 123456123456 123454321 12344321
  1234554321 123321123 123321123321 123654789 147258369 147852369 159357456 159753456 741852963 789456123 789456123a
  963852741 987654321 9876543210 87654321 876543210 98765432 11111111 111111111 1111111111 11112222 11223344 1122334455
  112233445566 22222222 222222222 33333333 44444444 55555555 555555555 66666666 666666666 77777777 777777777 88888888
  888888888 99999999 999999999 00000000 000000000 0000000000 10101010 12121212 123456aa 123456ab 123456abc 123456asd
  123456qwe 123456qwerty 12345qwert 12345qwerty 1234qwer 1234abcd 123qweasd 123qweasdzxc 123abc123 123asd123 12qwaszx
  1q2w3e4r 1q2w3e4r5t 1q2w3e4r5t6y 1q2w3e4r5t6y7u8i 1qaz2wsx 1qaz2wsx3edc 1qazxsw2 1qaz1qaz 1qaz!qaz !qaz2wsx q1w2e3r4
  q1w2e3r4t5 q1w2e3r4t5y6 qwertyui qwertyuio qwertyuiop qwertyuiop123 qwerty12 qwerty123 qwerty1234 qwerty12345
  qwerty123456 qwerty123! qwerty123456789 qwertyqwerty qwerty01 qwerty11 qwerty99 qwer1234 qwer4321 qweasdzxc
  qweasdzxc123 qweasd123 qwe123qwe qweqweqwe qwe123123 qazwsxedc qazwsxedcrfv qazwsx123 qazwsx12 qazqazqaz asdfghjk
  asdfghjkl asdfghjkl1 asdfghjkl123 asdfasdf asdf1234 asdfqwer asdasdasd asd123asd asd123456 asdasd123 zxcvbnm1
  zxcvbnm123 zxcvbnm, zxcvzxcv zxczxczxc zaq12wsx zaq1zaq1 zaq1xsw2 !@#$%^&* !@#$%^&*() abcd1234 abcd12345 abcd123456
  abcdefgh abcdefg1 abcdefg123 abcdefghi abcdefghij abc12345 abc123456 abc1234567 abc123abc abcabcabc abcd1234!
  a1234567 a12345678 a123456789 a1b2c3d4 a1b2c3d4e5 aa123456 aa12345678 aaaaaaaa aaaaaaaaa aaaaaaaaaa q1234567
  qq123456 w1234567 z1234567 z123456789 zzzzzzzz xxxxxxxx iloveyou iloveyou1 iloveyou2 iloveyou12 iloveyou123 iloveyou!
  iloveme1 iloveyou3 loveyou1 iloveu123 ilovegod ilovejesus loveme123 lovelove lovelove1 lovely123 sunshine sunshine1
  sunshine123 princess princess1 princess12 princess123 football football1 football12 football123 baseball baseball1
  baseball123 basketball basketball1 superman superman1 superman123 batman123 spiderman spiderman1 starwars starwars1
  pokemon1 pokemon123 charlie1 charlie123 michelle michelle1 jennifer jennifer1 jessica1 michael1 michael123 jordan23
  jordan123 daniel123 anthony1 nicholas nicholas1 elizabeth elizabeth1 samantha samantha1 victoria victoria1 alexander
  alexander1 alexandra benjamin brittany caroline carolina catherine charlotte chelsea1 chelsea123 christian christina
  christine christopher danielle fernando francesca gabriela gabriele isabella jonathan katherine kimberly margaret
  patricia patrick1 rebecca1 sebastian stephanie stephen1 valentina veronica vanessa1 whatever whatever1 welcome1
  welcome12 welcome123 welcome1! welcome@123 welcome2024 welcome2025 letmein1 letmein12 letmein123 letmein! trustno1
  dragon123 master123 monkey123 monkey12 shadow123 hunter123 killer123 admin123 admin1234 admin12345 admin123456
  admin@123 adminadmin administrator administrator1 root1234 rootroot toor1234 changeme changeme1 changeme123 changeit
  default1 default123 guest123 guestguest user1234 username testtest test1234 test12345 test123456 testing1 testing123
  testpassword temp1234 temppassword demo1234 demodemo sample123 computer computer1 internet internet1 samsung1
  samsung123 google123 facebook facebook1 linkedin microsoft windows10 apple123 iphone12 android1 bitcoin1 bitcoin123
  ethereum trading1 trading123 trader123 tradingview money123 moneymoney lucky123 lucky777 success1 freedom1 freedom123
  forever1 blessed1 jesus123 jesus777 jesuschrist hellohello hello123 hello1234 hello12345 helloworld helloworld1
  goodluck happy123 summer123 summer2023 summer2024 summer2025 summer2026 winter123 winter2023 winter2024 winter2025
  winter2026 spring2024 spring2025 spring2026 autumn2024 autumn2025 autumn2026 november december september qwertz123
  azerty123 azertyuiop mercedes mercedes1 porsche1 ferrari1 mustang1 corvette maverick midnight mountain butterfly
  butterfly1 chocolate chocolate1 cheese123 cookie123 pepper123 ginger123 bailey123 buster123 tigger123 snoopy123
  arsenal1 arsenal123 liverpool liverpool1 liverpool123 manchester manchester1 barcelona barcelona1 realmadrid juventus
  rangers1 yankees1 steelers cowboys1 lakers24 eminem123 metallica nirvana1 slipknot scorpion rockstar rockyou1
  fuckyou1 fuckyou123 fuckyou2 fuckyou! fuckoff1 asshole1 bullshit letmeinnow opensesame access123 access14 matrix123
  thunder1 phoenix1 platinum diamond1 goldfish elephant dolphins panther1 wolverine gladiator gandalf1 merlin123
  zxcvbnm123456 passw0rd12 correcthorsebatterystaple fillpath fillpath1 fillpath123
`
    .split(/\s+/)
    .filter((word) => word !== ''),
);
